/** Repository settings with hostile texts. */

import type { Person } from './gatehouse.js'
import type { Receiver } from './receiver.js'
import { until } from './server-processes.js'
import { aKeyLine } from './ssh-keys.js'

export interface HostileSettings {
  /** Owner of the repository `hostile`. */
  readonly owner: Person
  /** User who becomes a collaborator. */
  readonly guest: Person
  /** Receiver of the webhook; the server must be permitted to call it. */
  readonly receiver: Receiver
  readonly payloads: readonly string[]
}

/** Writes the payloads to all settings that accept text. Returns the paths of their pages. */
export async function fillSettings({ owner, guest, receiver, payloads }: HostileSettings) {
  const own = `/repos/${owner.name}/hostile`
  const [first = '', second = ''] = payloads
  const ask = async (method: string, path: string, body?: object) => {
    const { status, body: answer } = await owner.api(method, own + path, body)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`)
    return answer as { readonly id: number }
  }
  await guest.api('PATCH', '/user/settings', { full_name: first })
  await ask('PATCH', '', { website: payloads.join(' ') })
  await ask('PUT', `/collaborators/${guest.name}`, { permission: 'admin' })
  for (const title of payloads) {
    await ask('POST', '/keys', { title, key: aKeyLine(title), read_only: true })
  }
  const hook = {
    type: 'gitea',
    branch_filter: second,
    authorization_header: first,
    config: { url: `${receiver.url}/${first}?${second}#'><b>`, content_type: 'json', secret: 's' },
  }
  const { id } = await ask('POST', '/hooks', { ...hook, active: true })
  const site = await owner.api('POST', '/admin/hooks', hook)
  const siteHook = site.body as { readonly id: number }
  // Deliveries are sequential: if the second has arrived, the first one's result is recorded.
  for (const _ of [1, 2]) await ask('POST', `/hooks/${id}/tests`)
  await until(
    async () => receiver.received.length,
    (count) => count > 1,
    20_000,
  )
  await ask('PATCH', '', { has_actions: true })
  for (const home of [`/repos/${owner.name}/hostile`, '/orgs/club', '/user', '/admin']) {
    const description = payloads.join(' ')
    await owner.api('PUT', `${home}/actions/secrets/KEY`, { data: 'x', description })
    const variable = { value: payloads.join('\n'), description }
    await owner.api('POST', `${home}/actions/variables/LEVEL`, variable)
  }
  const settings = `/${owner.name}/hostile/settings`
  return {
    general: settings,
    collaboration: `${settings}/collaboration`,
    keys: `${settings}/keys`,
    hooks: `${settings}/hooks`,
    hook: `${settings}/hooks/${id}`,
    'site hooks': '/admin/hooks',
    'site hook': `/admin/hooks/${siteHook.id}`,
    values: `${settings}/actions`,
    'organization values': '/org/club/settings/actions',
    'user values': '/user/settings/actions',
    'site values': '/admin/actions',
  }
}
