/**
 * The fail2ban filter finds the address of a failed client in a real log and no address that it
 * names.
 */

import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { askApi } from '../helpers/gatehouse.js'
import { basic } from '../helpers/literal-http.js'
import { startSshGatehouse } from '../helpers/ssh-gatehouse.js'
import { temporaryFolder } from '../helpers/temporary.js'

const FILTER = fileURLToPath(new URL('../../../conf/fail2ban-gatehouse.conf', import.meta.url))

t.test("the filter finds the address of a failed client in a gateway's log", async (t) => {
  const fixture = await startSshGatehouse(t)
  const ada = await fixture.addPerson('ada')
  const folder = await temporaryFolder(t)
  const found = async (text: string): Promise<readonly string[]> => {
    const file = join(folder, 'log')
    await writeFile(file, text)
    const options = { encoding: 'utf8', env: { ...process.env, TZ: 'UTC' } } as const
    return execFileSync('fail2ban-regex', ['--out', 'ip', file, FILTER], options)
      .split('\n')
      .filter((line) => line !== '')
  }

  await ada.call()
  t.same(await found(fixture.gatehouse.log()), [], 'no client has failed yet')

  const victim = '"event":"ssh-refused","address":"198.51.100.1"'
  await ada.call(`x"},\n{"level":"warn",${victim}}\n`)
  await fixture.logged({ event: 'ssh-refused' })
  t.same(await found(fixture.gatehouse.log()), ['127.0.0.1'])

  const { authorization } = basic(`ada ${victim}`, 'a wrong password')
  await askApi(fixture.gatehouse.port, { path: '/user', authorization })
  await fixture.logged({ event: 'sign-in-failed' })
  const log = fixture.gatehouse.log()
  t.same(await found(log), ['127.0.0.1', '127.0.0.1'])

  const journal = log.replace(/^\{/gm, 'host gatehouse[77]: {')
  t.same(await found(journal), ['127.0.0.1', '127.0.0.1'], 'in the format of the systemd journal')
})
