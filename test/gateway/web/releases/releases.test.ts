/** Pages of releases: contents and downloads, and drafts for users with write permission. */

import t from 'tap'
import { createRelease } from '../../../../sql/releases/releases.js'
import { findRepository } from '../../../../sql/repositories/repositories.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { withPassword } from '../../../helpers/requests.js'
import { seeRendered } from '../../../helpers/web-forms.js'

t.test(
  'releases are listed with notes and files, and drafts for users with write permission',
  async (t) => {
    const { ada, as, ask, db } = await startGatewayWithUsers(t)
    await as('ada', 'POST', '/user/repos', { name: 'r', auto_init: true })
    const publish = async (tag_name: string, fields: object) => {
      const { json } = await as('ada', 'POST', '/repos/ada/r/releases', { tag_name, ...fields })
      return (json as { id: number }).id
    }
    const id = await publish('lib/v1#ß', { name: 'First <one>', body: 'Notes\n*of* it' })
    await publish('v2', { draft: true, name: 'Secret plan' })
    await publish('v3', { prerelease: true })
    const name = 'a <b> & c.bin'
    const upload = await ask({
      method: 'POST',
      body: Buffer.alloc(2_048),
      path: `/api/v1/repos/ada/r/releases/${id}/assets?name=${encodeURIComponent(name)}`,
      authorization: withPassword('ada', 'password of ada'),
      headers: { 'content-type': 'application/octet-stream' },
    })
    t.equal(upload.status, 201)
    const session = await ask({
      method: 'POST',
      path: '/user/login',
      body: 'user_name=ada&password=password+of+ada',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    const cookie = String(session.headers['set-cookie']).split(';')[0] ?? ''
    const see = async (path: string, headers = {}) => ask({ path: `/ada/r${path}`, headers })

    const list = await seeRendered(() => see('/releases'))
    t.match(list.text, /First &lt;one>.*Notes<br \/>\s*<em>of<\/em> it.*a &lt;b> &amp; c\.bin/s)
    t.match(list.text, /2\.0 KiB/)
    t.match(list.text, /v3.*pre-release/s)
    t.notMatch(list.text, /Secret plan/)
    t.match((await see('/releases', { cookie })).text, /Secret plan.*draft/s)
    const draft = '/releases/tag/v2'
    t.equal((await see(draft)).status, 404)
    t.equal((await see(draft)).text, (await see('/releases/tag/none')).text)
    t.notMatch((await see(draft, { cookie })).text, /Source code/, 'it has no tag yet')

    const tag = 'lib/v1%23%C3%9F'
    const one = await see(`/releases/tag/${tag}`)
    t.match(one.text, /<h2>First &lt;one><\/h2>/)
    const links = [...one.text.matchAll(/href="(\/ada\/r\/[^"]+)" download/g)]
    t.strictSame(
      links.map(([, path]) => path),
      [
        `/ada/r/releases/download/${tag}/a%20%3Cb%3E%20%26%20c.bin`,
        `/ada/r/archive/${tag}.zip`,
        `/ada/r/archive/${tag}.tar.gz`,
      ],
    )
    for (const [, path = ''] of links) t.equal((await ask({ path })).status, 200, path)
    t.equal((await see('/releases/latest')).headers.location, `/ada/r/releases/tag/${tag}`)

    const repository = await findRepository(db, 'ada', 'r')
    for (let count = 1; count <= 10; count += 1) {
      await createRelease(db, {
        repositoryId: repository?.id ?? 0,
        tagName: `x${count}`,
        target: 'main',
        title: '',
        body: '',
        tagMessage: '',
        isDraft: false,
        isPrerelease: false,
        authorId: ada.id,
      })
    }
    t.match((await see('/releases')).text, /\/releases\?page=2">Older/)
    t.match((await see('/releases?page=2')).text, /First &lt;one>/)
    await as('ada', 'PATCH', '/repos/ada/r', { has_releases: false })
    for (const path of ['/releases', `/releases/tag/${tag}`, '/releases/latest']) {
      t.equal((await see(path, { cookie })).status, 404, path)
    }
    t.notMatch((await see('')).text, /\/ada\/r\/releases"/)
    await as('ada', 'PATCH', '/repos/ada/r', { has_releases: true, private: true })
    t.equal((await see('/releases')).status, 404)
    t.equal((await see('/releases', { cookie })).status, 200)
  },
)
