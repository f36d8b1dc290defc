/** Messages of webhooks for services: their texts, and the escaping of texts of users. */

import t from 'tap'
import type { EventPayload } from '../../../gateway/webhooks/event-message.js'
import { servicePayload } from '../../../gateway/webhooks/service-payloads.js'

const URL = 'https://code.example.com/ada/r'
const HOSTILE = '<b>&"|*](x) @everyone'

const OPENED: EventPayload = {
  action: 'opened',
  sender: { login: 'ada', full_name: 'Ada', html_url: 'https://code.example.com/ada' },
  repository: { full_name: 'ada/r', html_url: URL },
  issue: { number: 1, title: `${HOSTILE}\nmore`, body: HOSTILE, html_url: `${URL}/issues/1` },
}

const of = (service: Parameters<typeof servicePayload>[0], payload = OPENED) =>
  servicePayload(service, { channel: '#ops' }, { event: 'issues', payload })

t.test('texts of users are escaped in the way of each service', async (t) => {
  const escaped = '&lt;b&gt;&amp;"|*](x) @everyone'
  t.match(of('slack'), {
    text: `[<${URL}|ada/r>] Issue opened: <${URL}/issues/1|#1 ${escaped}> by ada`,
    link_names: 0,
    attachments: [{ text: escaped, title_link: `${URL}/issues/1` }],
  })
  const html = escaped.replace('"', '&quot;')
  const head = `[<a href="${URL}">ada/r</a>] Issue opened: <a href="${URL}/issues/1">#1 ${html}</a>`
  t.match(of('telegram'), { text: `${head} by ada\n\n${html}`, parse_mode: 'HTML' })
  t.match(of('matrix'), { formatted_body: `${head} by ada<br>${html}` })
  t.match(of('discord'), {
    allowed_mentions: { parse: [] },
    embeds: [{ title: `[ada/r] Issue opened: #1 ${HOSTILE}`, color: 0xeb6420 }],
  })
  t.match(of('wechatwork'), {
    markdown: {
      content: `[[ada/r](${URL})] Issue opened: [#1 <b>&"|* (x) @everyone](${URL}/issues/1) by ada\n>${HOSTILE}`,
    },
  })
})

t.test('long texts are shortened', async (t) => {
  const issue = { number: 1, title: 'x'.repeat(5_000), body: 'y'.repeat(100_000), html_url: URL }
  for (const service of ['discord', 'slack', 'telegram', 'matrix', 'msteams', 'feishu'] as const) {
    const { length } = JSON.stringify(of(service, { ...OPENED, issue }))
    t.ok(length < 4_500, `${service}: ${length}`)
  }
})

t.test('Packagist gets the address of the repository after pushes only', async (t) => {
  t.equal(of('packagist'), undefined)
  const push = { event: 'push', payload: OPENED } as const
  t.same(servicePayload('packagist', {}, push), { repository: { url: URL } })
  const package_url = 'https://packagist.org/packages/ada/r'
  t.same(servicePayload('packagist', { package_url }, push), { repository: { url: package_url } })
})
