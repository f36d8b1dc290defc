/** Webhook inputs are validated, and webhook objects show no secret. */

import t from 'tap'
import {
  hookObject,
  patchHook,
  readNewHook,
} from '../../../../gateway/objects/webhooks/webhook-object.js'
import type { Context } from '../../../../gateway/request/context.js'
import { createWebhook } from '../../../../sql/webhooks/webhooks.js'
import { openContext } from '../../../helpers/gateway.js'

const CONFIG = { url: 'https://hooks.example.org/a?secret=b', content_type: 'json' }

const { context, fixture } = await openContext(t)
const ada = await fixture.addUser('ada')

async function made(of: Context, body: Parameters<typeof readNewHook>[1]) {
  return createWebhook(of.db, { ownerId: ada.id }, await readNewHook(of, body))
}

t.test("a webhook object has the input's fields without its secret", async (t) => {
  const config = { ...CONFIG, secret: 'the key' }
  const sent = { type: 'gitea', config, authorization_header: 'Bearer x' }
  const webhook = await made(context, sent)
  t.match(await hookObject(context, webhook), {
    type: 'gitea',
    config: CONFIG,
    events: ['push'],
    active: false,
    branch_filter: '',
    authorization_header: 'Bearer x',
  })
  t.notMatch(JSON.stringify([webhook, await hookObject(context, webhook)]), /the key/)
  const rows = await fixture.db('webhooks').select()
  t.notMatch(JSON.stringify(rows), /the key|Bearer x/, 'the secrets are sealed')
})

t.test('a patch keeps the fields that it does not name, except the events', async (t) => {
  const webhook = await made(context, {
    type: 'gogs',
    config: { ...CONFIG, secret: 'the key' },
    events: ['issues'],
    branch_filter: 'main',
    active: true,
  })
  const kept = await patchHook(context, webhook, {})
  t.match(kept, { ...webhook, events: ['push'] })
  const changed = await patchHook(context, webhook, {
    config: { content_type: 'form' },
    events: ['release'],
    active: false,
    branch_filter: 'release/*',
    authorization_header: 'Basic y',
  })
  t.match(changed, {
    url: CONFIG.url,
    contentType: 'form',
    secretSealed: webhook.secretSealed,
    events: ['release'],
    isActive: false,
    branchFilter: 'release/*',
  })
  t.type(changed.authorizationSealed, 'string')
  const emptied = await patchHook(context, webhook, { config: { secret: '' } })
  t.equal(emptied.secretSealed, undefined)
})

t.test('an invalid webhook is refused with the messages that clients know', async (t) => {
  const { url, content_type } = CONFIG
  const refusals: readonly (readonly [object, string | RegExp])[] = [
    [{ type: 'irc', config: CONFIG }, 'Invalid hook type: irc'],
    [{ type: 'slack', config: CONFIG }, 'Missing config option: channel'],
    [{ type: 'slack', config: { ...CONFIG, channel: 'A B' } }, 'Invalid slack channel name'],
    [{ type: '', config: CONFIG }, 'Invalid hook type: '],
    [{ type: 'gitea', config: { content_type } }, 'Missing config option: url'],
    [{ type: 'gitea', config: { url } }, 'Missing config option: content_type'],
    [{ type: 'gitea', config: { url, content_type: 'xml' } }, 'Invalid content type'],
    [{ type: 'gitea', config: { ...CONFIG, http_method: 'GET' } }, 'Invalid http method'],
    [{ type: 'gitea', config: CONFIG, branch_filter: '{a' }, 'Invalid branch filter'],
    ...['file:///etc/passwd', 'https:///x', 'https://u:p@h/', 'ftp://h/', 'h', ''].map(
      (bad) => [{ type: 'gitea', config: { url: bad, content_type } }, 'Invalid url'] as const,
    ),
    [
      { type: 'gitea', config: { url: 'http://169.254.169.254/', content_type } },
      /^The host '169\.254\.169\.254' has an address that is not allowed: /,
    ],
  ]
  for (const [body, message] of refusals) {
    await t.rejects(readNewHook(context, body as never), { message }, JSON.stringify(body))
  }
  const allowed = { type: 'gitea', config: { url: 'http://127.0.0.1:1/', content_type } }
  t.match(await readNewHook(context, allowed), { url: 'http://127.0.0.1:1/' })
  const header = { type: 'gitea', config: CONFIG, authorization_header: 'a\r\nHost: x' }
  await t.rejects(readNewHook(context, header), { message: 'Invalid authorization header' })
})
