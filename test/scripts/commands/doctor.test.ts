/** `gatehouse doctor`: one line for each prerequisite, with advice for each fault. */

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { opendir, rename } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openInstanceSecret } from '../../../conf/instance-secret.js'
import { loadSettings } from '../../../conf/load.js'
import { refuseClockOf } from '../../../gateway/doctor/address.js'
import { claimSecret } from '../../../gateway/doctor/site-identity.js'
import { DOCTOR_COMMANDS } from '../../../scripts/commands/doctor.js'
import { addBackup } from '../../../sql/admin/backups.js'
import { closeDatabase, openDatabase } from '../../../sql/database/database.js'
import { makeCertificate } from '../../helpers/certificate.js'
import { runCommand, useDataFolder } from '../../helpers/command.js'
import { freshLocation } from '../../helpers/databases.js'
import { freePort } from '../../helpers/free-port.js'
import { temporaryFolder } from '../../helpers/temporary.js'

t.test('doctor reports ok for every check of a valid installation', async (t) => {
  const folder = await useDataFolder(t)
  process.env['GATEHOUSE_HTTP_LISTEN'] = `127.0.0.1:${await freePort()}`
  t.teardown(() => {
    delete process.env['GATEHOUSE_HTTP_LISTEN']
  })
  const lines = await runCommand(t, DOCTOR_COMMANDS, 'doctor')
  const names = lines.map((line) => /^ok {6}([\w ]+): ./.exec(line)?.[1])
  t.strictSame(
    names,
    [
      'configuration',
      'database',
      'git',
      'git limits',
      'address',
      'disk',
      'blobs',
      'backups',
      'limits',
      'certificate',
      'sendfile',
      'file system',
      'sshd',
    ],
    lines.join('\n'),
  )
  t.equal(process.exitCode ?? 0, 0)
  for await (const { name } of await opendir(join(folder, 'blobs'), { recursive: true })) {
    t.notMatch(name, /-/, 'no test blob is left')
  }
})

t.test('a backup that is missing, failed or too old is a fault', async (t) => {
  const folder = await useDataFolder(t)
  t.teardown(() => {
    delete process.env['GATEHOUSE_BACKUP_DIR']
    process.exitCode = 0
  })
  const line = async () =>
    (await runCommand(t, DOCTOR_COMMANDS, 'doctor')).find((each) => each.includes(' backups: '))
  t.match(await line(), /^ok {6}backups: none was made \(see docs\/backup\.md\)$/)
  process.env['GATEHOUSE_BACKUP_DIR'] = '/srv/backup'
  t.match(await line(), /^FAULT {3}backups: none was made in \/srv\/backup yet: see the job/)
  const file = join(folder, 'gatehouse.db')
  const db = await openDatabase({ location: { kind: 'sqlite', file }, connectionsMax: 1 })
  const hoursAgo = (hours: number) => Date.now() - hours * 3_600_000
  const made = { target: '/srv/backup', outcome: 'complete' } as const
  try {
    await addBackup(db, { ...made, startedAtMs: hoursAgo(50) })
    t.match(
      await line(),
      /^FAULT {3}backups: the last good one is 50 h old, but backup\.every is 24 h: see why/,
    )
    await addBackup(db, { ...made, startedAtMs: hoursAgo(47) })
    t.equal(await line(), 'ok      backups: the last good one is 47 h old, in /srv/backup')
    const lost = { outcome: 'incomplete', problem: '1 missing: the blob x' } as const
    await addBackup(db, { ...made, ...lost, startedAtMs: hoursAgo(2) })
    t.match(await line(), /^FAULT .* lacks lost data \(1 missing: .*\); the last good one is 47 h/)
    const failed = { outcome: 'failed', problem: 'ENOSPC' } as const
    await addBackup(db, { ...made, ...failed, startedAtMs: hoursAgo(1) })
    t.match(await line(), /^FAULT .* the last one, in \/srv\/backup, failed \(ENOSPC\); the last/)
  } finally {
    await closeDatabase(db)
  }
})

t.test('an unreachable bucket is named without its credentials', async (t) => {
  await useDataFolder(t)
  const location = `127.0.0.1:${await freePort()}/packages`
  process.env['GATEHOUSE_BLOBS_URL'] = `s3://key:hunter2@${location}?tls=false`
  t.teardown(() => {
    delete process.env['GATEHOUSE_BLOBS_URL']
    process.exitCode = 0
  })
  const lines = await runCommand(t, DOCTOR_COMMANDS, 'doctor')
  t.match(lines[6], /^FAULT {3}blobs: bucket packages at http:\/\/127.*: connect ECONNREFUSED/)
  t.notMatch(lines.join(), /hunter2/)
})

t.test('a certificate that ends soon or names another host is a fault', async (t) => {
  const folder = await useDataFolder(t)
  const files = { certificate: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  const variables = {
    GATEHOUSE_HTTP_TLS_CERTIFICATE: files.certificate,
    GATEHOUSE_HTTP_TLS_KEY: files.key,
    GATEHOUSE_HTTP_BASE_URL: 'https://code.example.org',
  }
  Object.assign(process.env, variables)
  t.teardown(() => {
    for (const name of Object.keys(variables)) delete process.env[name]
    process.exitCode = 0
  })
  const lines = async () =>
    (await runCommand(t, DOCTOR_COMMANDS, 'doctor')).find((line) => line.includes(' certificate: '))
  t.match(
    await lines(),
    /^FAULT {3}certificate: .*cert\.pem .* cannot be read by this user: ENOENT/,
  )
  const names = ['DNS:*.example.org', 'IP:192.0.2.1']
  makeCertificate(files, { days: 30, names })
  t.match(await lines(), /^ok {6}certificate: for code\.example\.org, valid from 20[\d-]+ to 20/)
  process.env['GATEHOUSE_HTTP_BASE_URL'] = 'https://192.0.2.2'
  t.match(await lines(), /^FAULT {3}certificate: .*cert\.pem does not name 192\.0\.2\.2, the host/)
  process.env['GATEHOUSE_HTTP_BASE_URL'] = 'https://192.0.2.1'
  makeCertificate(files, { days: 6, names })
  t.match(
    await lines(),
    /^FAULT {3}certificate: .* is valid from .*: renew it 7 days before its end/,
  )
  const certificate = readFileSync(files.certificate)
  makeCertificate(files, { days: 30, names })
  writeFileSync(files.certificate, certificate)
  t.match(await lines(), /^FAULT {3}certificate: the private key .* does not belong to the first/)
})

t.test('each fault has its own line, and all checks run', async (t) => {
  const folder = await useDataFolder(t, { isMigrated: false })
  writeFileSync(join(folder, 'file'), '')
  process.env['GATEHOUSE_DATABASE_URL'] = `sqlite:${folder}/other.db`
  process.env['GATEHOUSE_DATA_DIR'] = join(folder, 'file')
  t.teardown(() => {
    delete process.env['GATEHOUSE_DATABASE_URL']
    process.exitCode = 0
  })
  const lines = await runCommand(t, DOCTOR_COMMANDS, 'doctor')
  t.match(
    lines[1],
    /^FAULT {3}database: \d+ migration\(s\) not applied: run 'gatehouse db migrate'$/,
  )
  t.match(lines[2], /^ok {6}git: /)
  t.match(lines[6], /^FAULT {3}blobs: .*file\/blobs cannot be used: /)
  t.match(lines[5], /^FAULT {3}disk: /)
  t.equal(process.exitCode, 1)
  process.exitCode = 0
})

t.test('a base URL whose host has no address is a fault before the start', async (t) => {
  await useDataFolder(t)
  process.env['GATEHOUSE_HTTP_BASE_URL'] = 'https://code.invalid'
  process.env['GATEHOUSE_HTTP_LISTEN'] = `127.0.0.1:${await freePort()}`
  t.teardown(() => {
    delete process.env['GATEHOUSE_HTTP_BASE_URL']
    delete process.env['GATEHOUSE_HTTP_LISTEN']
    process.exitCode = 0
  })
  const lines = await runCommand(t, DOCTOR_COMMANDS, 'doctor')
  t.match(
    lines[4],
    /^FAULT {3}address: https:\S+ cannot be requested \(The host 'code.invalid' \S+ /,
  )
})

t.test('a disk on which writes are refused is a fault', async (t) => {
  await useDataFolder(t)
  process.env['GATEHOUSE_DATA_DISK_FREE_MIN'] = '900000GiB'
  t.teardown(() => {
    delete process.env['GATEHOUSE_DATA_DISK_FREE_MIN']
    process.exitCode = 0
  })
  const lines = await runCommand(t, DOCTOR_COMMANDS, 'doctor')
  t.match(
    lines[5],
    /^FAULT {3}disk: \S+ has only [\d.]+ GiB free, so writes are refused: free 900000\.0 \(data/,
  )
})

t.test('a database of a newer program, and one of another secret, are faults', async (t) => {
  const folder = await useDataFolder(t)
  t.teardown(() => {
    process.exitCode = 0
  })
  const db = await openDatabase(loadSettings().database)
  t.teardown(() => closeDatabase(db))
  const database = async () => (await runCommand(t, DOCTOR_COMMANDS, 'doctor'))[1]
  await claimSecret(db, folder)
  t.match(await database(), /^ok {6}database: /)
  await rename(join(folder, 'secret.key'), join(folder, 'kept.key'))
  t.match(await database(), /^FAULT {3}database: .*secret\.key is missing, .*: restore the file/)
  await openInstanceSecret(folder)
  t.match(await database(), /^FAULT {3}database: .*secret\.key is of another site, /)
  await rename(join(folder, 'kept.key'), join(folder, 'secret.key'))
  await db('migrations').insert({ name: '9999-later', applied_at: 1 })
  t.match(await database(), /^FAULT {3}database: .*newer Gatehouse \(9999-later\): start that/)
})

t.test('faults of the address and of clocks are named', async (t) => {
  const folder = await useDataFolder(t)
  const { fingerprint } = await openInstanceSecret(folder)
  const answer = { site: fingerprint, aheadMs: 0 }
  const respond: RequestListener = (_request, response) => {
    response.setHeader('Gatehouse-Site', answer.site)
    response.setHeader('Date', new Date(Date.now() + answer.aheadMs).toUTCString())
    response.end()
  }
  const listen = async (server: Server) => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => new Promise((resolve) => server.close(resolve)))
    return (server.address() as AddressInfo).port
  }
  const port = await listen(createServer(respond))
  const tlsPort = await listen(createTlsServer(await expiredCertificate(t), respond))
  const addressOf = async (baseUrl: string | undefined, listenAt = `127.0.0.1:${port}`) => {
    process.env['GATEHOUSE_HTTP_LISTEN'] = listenAt
    if (baseUrl !== undefined) process.env['GATEHOUSE_HTTP_BASE_URL'] = baseUrl
    const lines = await runCommand(t, DOCTOR_COMMANDS, 'doctor')
    delete process.env['GATEHOUSE_HTTP_LISTEN']
    delete process.env['GATEHOUSE_HTTP_BASE_URL']
    process.exitCode = 0
    return lines[4]
  }
  t.match(await addressOf(undefined), /^ok {6}address: .* is answered by this server$/)
  t.match(
    await addressOf(undefined, `0.0.0.0:${port}`),
    /^FAULT {3}address: clone URLs begin with http:\/\/0\.0\.0\.0:\d+, which no client can open: set /,
  )
  const closed = await freePort()
  t.match(
    await addressOf(`http://127.0.0.1:${closed}`),
    /^FAULT {3}address: .*\/livez cannot be requested \(connect ECONNREFUSED .*\): correct http/,
  )
  t.match(await addressOf(undefined, `127.0.0.1:${closed}`), /^ok .* the server does not run$/)
  t.match(
    await addressOf(`https://127.0.0.1:${tlsPort}`),
    /^FAULT {3}address: the certificate of 127\.0\.0\.1:\d+ expired on \d{4}-\d\d-\d\d: renew it$/,
  )
  t.match(
    await addressOf(`https://127.0.0.1:${port}`),
    /^FAULT {3}address: https:\S+ does not accept TLS \(/,
  )
  answer.aheadMs = -120_000
  t.match(
    await addressOf(undefined),
    /^FAULT {3}address: the clock of this machine is 1(?:19|2\d) s ahead of that of the answer of /,
  )
  answer.site = 'another'
  t.match(await addressOf(undefined), /^FAULT {3}address: .* 200, but not from this server: /)
})

/** Makes a key and a certificate whose validity has ended. */
async function expiredCertificate(t: Test) {
  const folder = await temporaryFolder(t)
  const openssl = (command: string) =>
    execFileSync('openssl', command.split(' '), { cwd: folder, stdio: 'ignore' })
  openssl('genpkey -algorithm ed25519 -out key.pem')
  openssl('req -new -key key.pem -subj /CN=localhost -out request.pem')
  openssl('x509 -req -in request.pem -signkey key.pem -days 0 -out certificate.pem')
  const read = (name: string) => readFileSync(join(folder, name))
  return { key: read('key.pem'), cert: read('certificate.pem') }
}

t.test('a wrong password and a clock of the database server are named', async (t) => {
  await useDataFolder(t)
  const location = await freshLocation(t, 'mysql')
  if (location.kind !== 'mysql') throw new Error('not MariaDB')
  t.teardown(() => {
    delete process.env['GATEHOUSE_DATABASE_URL']
    process.exitCode = 0
  })
  process.env['GATEHOUSE_DATABASE_URL'] = String(location.url)
  const line = async () => (await runCommand(t, DOCTOR_COMMANDS, 'doctor'))[1]
  t.match(await line(), /^ok {6}database: mysql, migrated$/)
  const wrong = new URL(location.url)
  wrong.username = 'nobody'
  wrong.password = 'hunter2'
  process.env['GATEHOUSE_DATABASE_URL'] = String(wrong)
  const refused = await line()
  t.match(refused, /^FAULT {3}database: The database \S+ cannot be used: Access denied for user/)
  t.notMatch(refused, /hunter2|\n/)
  t.throws(() => refuseClockOf('the database server', Date.now() + 60_000), {
    message: /^the clock of this machine is 60 s behind that of the database server: synchronize /,
  })
})
