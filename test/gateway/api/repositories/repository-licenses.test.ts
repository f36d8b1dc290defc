/** Licenses of a repository over the API, detected in its license file. */

import t from 'tap'
import { findLicense } from '../../../../gateway/known-files/templates.js'
import { startGatewayWithRepository } from '../../../helpers/gateway-with-repository.js'

t.test('the license file of the default branch is recognized by its text', async (t) => {
  const { get, as, copy, push } = await startGatewayWithRepository(t)
  const licenses = async () => (await get('licenses')).json
  const put = async (name: string, text: string) => {
    await copy.commit(name, text)
    await push('main')
    return await licenses()
  }
  const textOf = async (key: string) => (await findLicense(key))?.text ?? ''
  t.strictSame(await licenses(), [], 'no license file')
  t.strictSame(await put('COPYING', await textOf('GPL-3.0-or-later')), ['GPL-3.0'])
  const mit = (await textOf('MIT')).replace('MIT License', 'The MIT License (MIT)')
  const filled = mit
    .replace('<year> <copyright holders>', '2026 Ada & Bob')
    .replaceAll('\n', '\r\n')
  t.strictSame(await put('LICENSE.md', filled), ['MIT'], 'with a title, names and other line ends')
  t.strictSame(await put('LICENSE', (await textOf('Apache-2.0')).replace(/ /g, '  ')), [
    'Apache-2.0',
  ])
  t.strictSame(await put('LICENSE', `${mit}\nYou must pay.\n`), [], 'a changed license')
  t.strictSame(await put('LICENSE', 'SPDX-License-Identifier: ISC\nSPDX-License-Identifier: X\n'), [
    'ISC',
  ])
  t.strictSame(await put('LICENSE', 'x'.repeat(300_000)), [], 'a file that is too large')
  await as('ada', 'POST', '/user/repos', { name: 'empty' })
  t.match(await as('bob', 'GET', '/repos/ada/empty/licenses'), { status: 200, json: [] })
  await as('ada', 'PATCH', '/repos/ada/r', { private: true })
  t.equal((await as('bob', 'GET', '/repos/ada/r/licenses')).status, 404)
})
