/** `gatehouse doctor`: one line for each prerequisite, with advice for each fault. */

import { readFileSync, writeFileSync } from 'node:fs'
import { opendir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { openInstanceSecret } from '../../../conf/instance-secret.js'
import { loadSettings } from '../../../conf/load.js'
import { claimSecret } from '../../../gateway/site-identity.js'
import { DOCTOR_COMMANDS } from '../../../scripts/commands/doctor.js'
import { closeDatabase, openDatabase } from '../../../sql/database/database.js'
import { makeCertificate } from '../../helpers/certificate.js'
import { runCommand, useDataFolder } from '../../helpers/command.js'
import { freePort } from '../../helpers/free-port.js'

t.test('doctor reports ok for every check of a valid installation', async (t) => {
  const folder = await useDataFolder(t)
  const lines = await runCommand(t, DOCTOR_COMMANDS, 'doctor')
  const names = lines.map((line) => /^ok {6}([\w ]+): ./.exec(line)?.[1])
  t.strictSame(
    names,
    [
      'configuration',
      'database',
      'git',
      'git limits',
      'disk',
      'blobs',
      'limits',
      'certificate',
      'sshd',
      'sendfile',
    ],
    lines.join('\n'),
  )
  t.equal(process.exitCode ?? 0, 0)
  for await (const { name } of await opendir(join(folder, 'blobs'), { recursive: true })) {
    t.notMatch(name, /-/, 'no test blob is left')
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
  t.match(lines[5], /^FAULT {3}blobs: bucket packages at http:\/\/127.*: connect ECONNREFUSED/)
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
  const lines = async () => (await runCommand(t, DOCTOR_COMMANDS, 'doctor'))[7]
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
  t.match(lines[4], /^FAULT {3}disk: /)
  t.match(lines[5], /^FAULT {3}blobs: .*file\/blobs cannot be used: /)
  t.equal(process.exitCode, 1)
  process.exitCode = 0
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
