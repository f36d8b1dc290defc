/** Form that is sent with the response of a security key; the only form that needs a script. */

import type { Child, JSX } from 'preact/jsx-runtime'
import type { Context } from '../../request/context.js'
import { KEY_SCRIPT } from '../asset-files.js'

interface KeyCeremonyProps {
  readonly context: Context
  readonly action: string
  readonly kind: 'create' | 'get'
  /** WebAuthn options for the browser. */
  readonly options: object
  readonly button: string
  /** Further fields of the form. */
  readonly children?: Child
}

/** Renders the hidden form, which its script shows, and a notice for browsers without scripts. */
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

/** Returns the URL of the script, which the page must permit in its Content-Security-Policy. */
export function keyScript({ settings }: Context): string {
  return settings.http.baseUrl + KEY_SCRIPT.path
}
