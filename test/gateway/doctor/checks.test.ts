/** A server warns of faults with which it runs, but serves its users badly. */

import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import t, { type Test } from 'tap'
import { loadSettings } from '../../../conf/load.js'
import type { Log } from '../../../conf/log.js'
import { warnOfFaults } from '../../../gateway/doctor/checks.js'
import { useDataFolder } from '../../helpers/command.js'
import { freePort } from '../../helpers/free-port.js'

/** Sets variables until the test ends; returns the settings that they give. */
async function settingsWith(t: Test, variables: Readonly<Record<string, string>>) {
  await useDataFolder(t)
  Object.assign(process.env, variables)
  t.teardown(() => {
    for (const name of Object.keys(variables)) delete process.env[name]
  })
  return loadSettings()
}

/** Log that collects the warnings. */
function collectWarnings() {
  const lines: string[] = []
  const warn = ({ check }: { check: string }, text: string) => lines.push(`${check}: ${text}`)
  return { lines, log: { warn } as unknown as Log }
}

t.test('each fault is logged with the name of its check and its remedy', async (t) => {
  const settings = await settingsWith(t, {
    GATEHOUSE_HTTP_LISTEN: `127.0.0.1:${await freePort()}`,
    GATEHOUSE_HTTP_BASE_URL: 'http://0.0.0.0',
    GATEHOUSE_DATA_DISK_FREE_MIN: '900000GiB',
    GATEHOUSE_BACKUP_DIR: '/srv/backup',
  })
  const { lines, log } = collectWarnings()
  await warnOfFaults(settings, { log, stopped: new AbortController().signal })
  t.equal(lines.length, 3, lines.join('\n'))
  t.match(lines[0], /^address: .* which no client can open: set http\.base_url to the name/)
  t.match(lines[1], /^disk: .* so writes are refused: free 900000\.0 \(data\.disk_free_min\)$/)
  t.match(lines[2], /^backups: none was made in \/srv\/backup yet: see the job back-up-site/)
})

t.test('a stop ends a check that waits for an answer, and is no fault', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`
  for (const scheme of ['http', 'https']) {
    const settings = await settingsWith(t, {
      GATEHOUSE_HTTP_LISTEN: address,
      GATEHOUSE_HTTP_BASE_URL: `${scheme}://${address}`,
    })
    const stop = new AbortController()
    const { lines, log } = collectWarnings()
    const warned = warnOfFaults(settings, { log, stopped: stop.signal })
    const [socket] = await once(silent, 'connection')
    stop.abort()
    await warned
    t.strictSame(lines, [], scheme)
    socket.destroy()
  }
  silent.close()
})
