/** Markdown over the API: rendered, sanitized, and refused beyond the limits. */

import t from 'tap'
import { BASE_URL } from '../../../helpers/gateway.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'

t.test('Markdown is rendered as sanitized HTML', async (t) => {
  const { as } = await startGatewayWithUsers(t)
  const html = async (path: string, body: unknown) => {
    const { status, text, headers } = await as('ada', 'POST', path, body)
    return status === 200 ? `${headers['content-type']?.split(';')[0]} ${text.trim()}` : status
  }
  const hostile = '# a <script>alert(1)</script>\n\n[x](javascript:alert(1))'
  for (const path of ['/markdown', '/markup']) {
    const shown = String(await html(path, { Text: hostile }))
    t.match(shown, /^text\/html <h1>a <\/h1>/, path)
    t.notMatch(shown, /<script|href="javascript/)
  }
  t.match(await html('/markdown/raw', Buffer.from('**b**')), '<p><strong>b</strong></p>')
  t.match(await html('/markdown', { Text: 'a\nb', Mode: 'gfm' }), '<br />')
  const link = { Text: '[x](y.md)', Context: 'ada/r' }
  t.match(await html('/markdown', link), `href="${BASE_URL}/ada/r/src/branch/main/y.md"`)
  const foreign = { ...link, Context: 'https://elsewhere.example/ada/r' }
  t.match(await html('/markdown', foreign), `href="${BASE_URL}/src/branch/main/y.md"`)
  t.equal(await html('/markup', { Text: 'x', Mode: 'file', FilePath: 'a.org' }), 422)
  t.match(await html('/markup', { Text: '*x*', Mode: 'file', FilePath: 'a.md' }), '<em>x</em>')
  t.equal(await html('/markdown', { Text: 'x'.repeat(262_145) }), 413)
  t.equal(await html('/markdown/raw', Buffer.alloc(1_048_577, 'x')), 413)
  t.equal((await as('anyone', 'POST', '/markdown', { Text: 'x' })).status, 401)
})
