/** Templates for new repositories: lists, texts, and their files in the first commit. */

import t from 'tap'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'

t.test('licenses, gitignore files and sets of labels are listed and read', async (t) => {
  const { as } = await startGatewayWithUsers(t)
  const get = async (path: string) => (await as('anyone', 'GET', path)).json
  const licenses = (await get('/licenses')) as { key: string; url: string }[]
  const mit = licenses.find(({ key }) => key === 'MIT')
  t.equal(mit?.url, 'http://code.example.com/api/v1/licenses/MIT')
  t.match(await get('/licenses/MIT'), { key: 'MIT', body: /Permission is hereby granted/ })
  t.ok(((await get('/gitignore/templates')) as string[]).includes('Node'))
  t.match(await get('/gitignore/templates/C++'), { name: 'C++', source: '*.o' })
  t.match(await get('/gitignore/templates/Vim'), { source: '.sw' })
  t.strictSame(await get('/label/templates'), ['Advanced', 'Default'])
  const labels = (await get('/label/templates/Advanced')) as { name: string; exclusive: boolean }[]
  t.match(labels[0], { name: 'Kind/Bug', exclusive: true, color: /^[0-9a-f]{6}$/ })
  for (const path of [
    '/licenses/None',
    '/licenses/..%2Fpackage',
    '/gitignore/templates/..%2Fpackage',
    '/gitignore/templates/Global%2FVim',
    `/gitignore/templates/${'a'.repeat(300)}`,
    '/label/templates/constructor',
  ]) {
    t.equal((await as('anyone', 'GET', path)).status, 404, path)
  }
})

t.test('a repository begins with the files and labels of its templates', async (t) => {
  const { as } = await startGatewayWithUsers(t)
  const wanted = {
    name: 'engine',
    description: 'It turns.',
    auto_init: true,
    gitignores: 'Go, Vim',
    license: 'MIT',
    issue_labels: 'Default',
    readme: 'Default',
  }
  t.equal((await as('ada', 'POST', '/user/repos', wanted)).status, 201)
  const raw = async (file: string) =>
    (await as('ada', 'GET', `/repos/ada/engine/raw/${file}?ref=main`)).text
  t.equal(await raw('README.md'), '# engine\n\nIt turns.')
  t.match(await raw('LICENSE'), `Copyright (c) ${new Date().getUTCFullYear()} ada`)
  t.match(await raw('.gitignore'), /^# ---> Go\n[\s\S]*\n# ---> Vim\n/)
  const { json: labels } = await as('ada', 'GET', '/repos/ada/engine/labels')
  t.equal((labels as unknown[]).length, 7)
  const { json: commits } = await as('ada', 'GET', '/repos/ada/engine/commits')
  t.equal((commits as unknown[]).length, 1)

  const many = Array.from({ length: 21 }, (_, at) => `a${at}`).join()
  const refused = { name: 'other', auto_init: true, gitignores: many }
  t.match(await as('ada', 'POST', '/user/repos', refused), { status: 400, text: 'more than 20' })
  t.equal((await as('ada', 'GET', '/repos/ada/other')).status, 404)
})
