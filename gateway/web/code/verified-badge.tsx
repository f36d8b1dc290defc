/** Badge of commits whose signature is verified, with the signer and the key. */

import type { JSX } from 'preact/jsx-runtime'
import type { Commit } from '../../../cgi/objects/commit-object.js'
import { findUsersByEmail } from '../../../sql/accounts/users-by-email.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import {
  signedCommit,
  type Verification,
  verifySignatures,
} from '../../actions/code/verify-signatures.js'
import { isVisible } from '../../auth/visible-owner.js'
import type { Context } from '../../request/context.js'
import { Icon } from '../kit/icon.js'

/** Returns the verifications of commits, by signers whom the caller can see. */
export async function verifyCommits(
  context: Context,
  { user }: RepositoryGrant,
  commits: readonly Commit[],
): Promise<readonly Verification[]> {
  const signed = commits.filter(({ signature }) => signature !== undefined)
  const addresses = signed.map(({ committer }) => committer.email)
  const users = await findUsersByEmail(context.db, addresses)
  const visible = new Map([...users].filter(([, signer]) => isVisible(signer, user)))
  return await verifySignatures(context, commits.map(signedCommit), visible)
}

interface VerifiedBadgeProps {
  readonly verification: Verification | undefined
}

/** Renders the badge; nothing for a commit that is not verified. */
export function VerifiedBadge({ verification }: VerifiedBadgeProps): JSX.Element | null {
  if (!verification?.isVerified) return null
  return (
    <>
      {' '}
      <span class="label success">
        <Icon name="verified" /> Verified: {verification.reason}
      </span>
    </>
  )
}
