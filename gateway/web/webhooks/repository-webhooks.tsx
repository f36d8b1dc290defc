/** Repository settings, Webhooks. */

import type { Call } from '../../request/route.js'
import { testWebhook } from '../../webhooks/test-webhook.js'
import { SettingsDocument } from '../accounts/settings-document.js'
import type { HookPages } from './hook-pages.js'
import { hookPages } from './webhook-page.js'
import { hookListPages } from './webhooks-page.js'

const PAGES: HookPages<'repository'> = {
  path: '/{owner}/{repo}/settings/hooks',
  access: { kind: 'repository', mode: 'admin' },
  document: ({ context, call, error, children }) => (
    <SettingsDocument context={context} grant={call.grant} error={error} tab="hooks">
      {children}
    </SettingsDocument>
  ),
  pathOf: ({ repository }) => `/${repository.owner.name}/${repository.name}/settings/hooks`,
  placeOf,
  newPlaceOf: placeOf,
  test: (context, { repository, user }, webhook) =>
    testWebhook(context, { repository, user, webhook }),
}

function placeOf({ repository }: Call<'repository'>['grant']) {
  return { repositoryId: repository.id }
}

export const REPOSITORY_HOOK_PAGES = [...hookListPages(PAGES), ...hookPages(PAGES)]
