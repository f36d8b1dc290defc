/** SSH keys in an authorized_keys file, for hosts whose sshd_config cannot be changed. */

import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { git } from '../helpers/git-client.js'
import { makeRepository } from '../helpers/repositories.js'
import { startSshGatehouse } from '../helpers/ssh-gatehouse.js'

t.test('the keys in a written authorized_keys file are accepted', async (t) => {
  const folder = await mkdtemp('/var/lib/gatehouse-test-')
  await chmod(folder, 0o755)
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'authorized_keys')
  const fixture = await startSshGatehouse(t, {
    workers: 1,
    edit: (config) =>
      config
        .replace(/^ *AuthorizedKeysCommand.*$/gm, '')
        .replace('AuthorizedKeysFile none', `AuthorizedKeysFile ${file}`),
  })
  const { account, gatehouse, sshd } = fixture
  await chown(folder, account.uid, account.gid)
  const foreign = '# keys of others\nssh-ed25519 AAAA somebody\n'
  await writeFile(file, foreign)
  await chown(file, account.uid, account.gid)
  const write = () =>
    gatehouse.run('ssh', 'authorized-keys', '--write', file, '--helper', sshd.helper)
  const ada = await fixture.addPerson('ada')
  await makeRepository(ada, 'work', { auto_init: true })

  t.match((await ada.call()).errorText, /Permission denied/, 'the file is not written yet')
  t.match(await write(), { exitCode: 0, output: `wrote 1 keys to ${file}\n` })
  t.match((await ada.call()).errorText, /^Hello ada!/)
  await git(['ls-remote', fixture.remote('ada/work')], { cwd: '/', ...ada })

  const { body } = await ada.api('GET', '/user/keys')
  const [{ id } = { id: 0 }] = body as { id: number }[]
  await ada.api('DELETE', `/user/keys/${id}`)
  t.match(
    (await ada.call()).errorText,
    /does not know this key any more/,
    'before the file is written again',
  )
  await write()
  t.match((await ada.call()).errorText, /Permission denied/)
  t.ok((await readFile(file, 'utf8')).startsWith(foreign))
})
