/** Administration, Webhooks: those of all events of the site, and those of new repositories. */

import type { JSX } from 'preact/jsx-runtime'
import { ADMIN_ACCESS, AdminDocument } from '../admin/admin-document.js'
import { fieldOf } from '../kit/page.js'
import { ErrorMessage } from '../kit/problem.js'
import type { HookPages } from './hook-pages.js'
import { hookPages } from './webhook-page.js'
import { hookListPages } from './webhooks-page.js'

const PAGES: HookPages<'admin'> = {
  path: '/admin/hooks',
  access: ADMIN_ACCESS,
  document: ({ context, call, error, children }) => (
    <AdminDocument context={context} user={call.grant.user} tab="hooks">
      <h2>Webhooks</h2>
      <ErrorMessage error={error} />
      {children}
    </AdminDocument>
  ),
  pathOf: () => '/admin/hooks',
  placeOf: () => ({ site: 'all' }),
  newPlaceOf: (_grant, form) => ({
    site: fieldOf(form, 'kind') === 'default' ? 'default' : 'system',
  }),
  placeFields: <KindField />,
}

function KindField(): JSX.Element {
  return (
    <>
      <label for="kind">Events</label>
      <select id="kind" name="kind">
        <option value="system">of all repositories</option>
        <option value="default">of each new repository, into which the webhook is copied</option>
      </select>
    </>
  )
}

export const SITE_HOOK_PAGES = [...hookListPages(PAGES), ...hookPages(PAGES)]
