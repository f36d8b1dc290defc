/** Registration of a runner, and its file. */

import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { readRegistration, registerRunner } from '../../../gateway/own-runner/registration.js'
import {
  STUB_CREDENTIALS,
  STUB_REGISTRATION_TOKEN,
  stubRunnerServer,
} from '../../helpers/stub-runner-server.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const RUNNER = {
  registrationToken: STUB_REGISTRATION_TOKEN,
  name: 'first',
  labels: ['linux', 'debian'],
  version: '1',
}

t.test('a registered runner has a file that only its user can read', async (t) => {
  const stub = await stubRunnerServer(t)
  const path = join(await temporaryFolder(t), 'runner.json')
  await registerRunner(path, { ...RUNNER, instance: stub.address })
  t.strictSame(stub.calls, ['Ping', 'Register'])
  t.equal((await stat(path)).mode & 0o777, 0o600)
  t.strictSame(await readRegistration(path), {
    ...STUB_CREDENTIALS,
    instance: stub.address,
    name: 'first',
    labels: ['linux', 'debian'],
  })
  t.notMatch(await readFile(path, 'utf8'), STUB_REGISTRATION_TOKEN)
})

t.test('a runner that has a file is not registered a second time', async (t) => {
  const stub = await stubRunnerServer(t)
  const path = join(await temporaryFolder(t), 'runner.json')
  await writeFile(path, 'of another runner')
  await t.rejects(registerRunner(path, { ...RUNNER, instance: stub.address }), { code: 'EEXIST' })
  t.equal(await readFile(path, 'utf8'), 'of another runner')
  t.strictSame(stub.calls, [])
})

t.test('a refused registration leaves no file behind', async (t) => {
  const stub = await stubRunnerServer(t)
  stub.refusals['Register'] = ['unauthenticated']
  const path = join(await temporaryFolder(t), 'runner.json')
  await t.rejects(registerRunner(path, { ...RUNNER, instance: stub.address }), {
    code: 'unauthenticated',
  })
  await t.rejects(stat(path), { code: 'ENOENT' })
})

t.test('a file without credentials is refused', async (t) => {
  const path = join(await temporaryFolder(t), 'runner.json')
  await t.rejects(readRegistration(path), { code: 'ENOENT' })
  await writeFile(path, '{"uuid": "x", "labels": []}')
  await t.rejects(readRegistration(path), /token, instance, name or labels is missing/)
})
