/** Forms of the page of a package version: the linked repository, and deletion. */

import type { JSX } from 'preact/jsx-runtime'
import { Confirmation } from '../kit/confirmation.js'
import { TextField } from '../kit/text-field.js'

const NAME_CHARACTERS_MAX = 100

interface VersionFormsProps {
  /** URL of the version. */
  readonly address: string
  readonly packageName: string
  readonly version: string
  /** True if the package is linked to a repository. */
  readonly isLinked: boolean
}

/** Renders the forms for users who can write the packages of the owner. */
export function VersionForms(props: VersionFormsProps): JSX.Element {
  const { address, packageName, version, isLinked } = props
  return (
    <section class="danger-zone">
      <h3>Repository</h3>
      {isLinked ? (
        <form method="post" action={`${address}/-/unlink`}>
          <button type="submit">Remove the link to the repository</button>
        </form>
      ) : (
        <form class="form" method="post" action={`${address}/-/link`}>
          <TextField
            label="Repository of the same owner"
            name="repository"
            charactersMax={NAME_CHARACTERS_MAX}
            isRequired={true}
          />
          <button type="submit">Link the package</button>
        </form>
      )}
      <h3>Deletion</h3>
      <p>Clients that install exactly this version fail afterwards.</p>
      <form class="form" method="post" action={`${address}/-/delete`}>
        <Confirmation id="confirm-delete" name={`${packageName} ${version}`} />
        <button type="submit" class="danger">
          Delete this version
        </button>
      </form>
    </section>
  )
}
