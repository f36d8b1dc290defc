/** Layout of all pages: head, navigation and footer. */

import type { Child, JSX } from 'preact/jsx-runtime'
import type { User } from '../../../sql/accounts/users.js'
import type { Context } from '../../request/context.js'
import { STYLESHEET } from '../asset-files.js'
import { Icon } from './icon.js'

export interface DocumentProps {
  readonly context: Context
  readonly title: string
  /** Absent for anonymous visitors. */
  readonly user?: User | undefined
  readonly children?: Child
}

/** Renders a page around its main content. */
export function Document({ context, title, user, children }: DocumentProps): JSX.Element {
  const base = context.settings.http.basePath
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · Gatehouse`}</title>
        <link rel="stylesheet" href={base + STYLESHEET.path} />
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header class="top">
          <nav aria-label="Site">
            <a class="brand" href={`${base}/`}>
              Gatehouse
            </a>
            <span class="grow" />
            {user === undefined ? (
              <a href={`${base}/user/login`}>Sign in</a>
            ) : (
              <Account base={base} user={user} />
            )}
          </nav>
        </header>
        <main id="main" tabindex={-1}>
          {children}
        </main>
        <footer class="bottom">
          <a href={`${base}/api/swagger`}>API</a>
        </footer>
      </body>
    </html>
  )
}

function Account({ base, user }: { readonly base: string; readonly user: User }): JSX.Element {
  return (
    <>
      <a href={`${base}/repo/create`}>
        <Icon name="plus" /> New repository
      </a>
      <a href={`${base}/org/create`}>
        <Icon name="plus" /> New organization
      </a>
      {user.isAdmin && <a href={`${base}/admin/users`}>Administration</a>}
      <a href={`${base}/${user.name}`}>{user.name}</a>
      <a href={`${base}/user/settings`}>Settings</a>
      <form method="post" action={`${base}/user/logout`}>
        <button type="submit" class="plain">
          Sign out
        </button>
      </form>
    </>
  )
}
