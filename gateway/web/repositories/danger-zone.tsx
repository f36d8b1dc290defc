/** Irreversible actions, confirmed by typing the full name of the repository. */

import type { JSX } from 'preact/jsx-runtime'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { Confirmation } from '../kit/confirmation.js'

export interface DangerZoneProps {
  /** True if the viewer is permitted to transfer and delete the repository. */
  readonly isOwner: boolean
  /** True if a transfer waits for the answer of the new owner. */
  readonly isOffered: boolean
  /** URL of the settings page. */
  readonly address: string
  readonly repository: Repository
}

/** Renders forms that prune the repository and, for its owners, transfer and delete it. */
export function DangerZone(props: DangerZoneProps): JSX.Element {
  const { address, repository, isOwner, isOffered } = props
  return (
    <section class="danger-zone">
      <h2>Danger zone</h2>
      <PruneForm address={address} repository={repository} />
      {isOwner && <OwnerForms address={address} repository={repository} isOffered={isOffered} />}
    </section>
  )
}

type FormProps = Pick<DangerZoneProps, 'address' | 'repository'>

function PruneForm({ address, repository }: FormProps): JSX.Element {
  return (
    <>
      <h3>Prune</h3>
      <p>
        Permanently removes commits that are not reachable from a branch, tag or pull request.
        Clones and forks keep them, so a password that was pushed must still be changed.
      </p>
      <form method="post" action={`${address}/prune`}>
        <label for="commit">Commit to remove (full id, optional)</label>
        <input type="text" id="commit" name="commit" maxlength={64} />
        <label class="choice">
          <input type="checkbox" name="closed_pulls" /> Also remove commits of closed pull requests,
          which then show no commits
        </label>
        <label class="choice">
          <input type="checkbox" name="now" /> Prune immediately, without the grace period
        </label>
        <Confirmation id="confirm-prune" name={fullNameOf(repository)} />
        <button type="submit" class="danger">
          Prune this repository
        </button>
      </form>
    </>
  )
}

function OwnerForms({
  address,
  repository,
  isOffered,
}: Omit<DangerZoneProps, 'isOwner'>): JSX.Element {
  const fullName = fullNameOf(repository)
  return (
    <>
      <h3>Transfer</h3>
      <p>
        Gives the repository to another user or organization. The old address redirects to the new
        one. If you cannot create repositories for the new owner, the new owner has to accept first.
      </p>
      {isOffered ? (
        <form method="post" action={`${address}/transfer/delete`}>
          <button type="submit">Cancel the pending transfer</button>
        </form>
      ) : (
        <form method="post" action={`${address}/transfer`}>
          <label for="new_owner">New owner</label>
          <input type="text" id="new_owner" name="new_owner" required={true} />
          <Confirmation id="confirm-transfer" name={fullName} />
          <button type="submit" class="danger">
            Transfer this repository
          </button>
        </form>
      )}
      <h3>Delete</h3>
      <p>Permanently deletes its code, issues, pull requests and releases.</p>
      <form method="post" action={`${address}/delete`}>
        <Confirmation id="confirm-delete" name={fullName} />
        <button type="submit" class="danger">
          Delete this repository
        </button>
      </form>
    </>
  )
}

/** Returns the full name of a repository, `owner/name`. */
export function fullNameOf({ owner, name }: Repository): string {
  return `${owner.name}/${name}`
}
