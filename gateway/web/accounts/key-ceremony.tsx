/** A form that is sent with what a security key answers: the one thing that takes a script. */

import type { Child, JSX } from 'preact/jsx-runtime'
import type { Context } from '../../request/context.js'
import { KEY_SCRIPT } from '../asset-files.js'

interface KeyCeremonyProps {
  readonly context: Context
  readonly action: string
  readonly kind: 'create' | 'get'
  /** What the browser is to ask the key. */
  readonly options: object
  readonly button: string
  /** Further fields of the form. */
  readonly children?: Child
}

/** The form, which its script shows; who has no script is told so. */
export function KeyCeremony(props: KeyCeremonyProps): JSX.Element {
  const { context, action, kind, options, button, children } = props
  return (
    <>
      <form
        method="post"
        action={action}
        hidden={true}
        data-ceremony={kind}
        data-options={JSON.stringify(options)}
      >
        {children}
        <input type="hidden" name="answer" />
        <p class="error" role="alert" />
        <button type="submit">{button}</button>
      </form>
      <noscript>
        <p class="quiet">A security key needs JavaScript, which this browser does not run.</p>
      </noscript>
      <script type="module" src={keyScript(context)} />
    </>
  )
}

/** The address of the script; the page that has the form sends it in its policy. */
export function keyScript({ settings }: Context): string {
  return settings.http.baseUrl + KEY_SCRIPT.path
}
