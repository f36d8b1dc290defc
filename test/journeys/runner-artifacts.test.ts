/** The workflow of docs/actions.md that stores an artifact in steps of Gatehouse's own runner. */

import { readFile } from 'node:fs/promises'
import t from 'tap'
import { runCommand } from '../helpers/command-line.js'
import { startGatehouse } from '../helpers/gatehouse.js'
import { temporaryFolder } from '../helpers/temporary.js'

const DOCUMENT = new URL('../../../docs/actions.md', import.meta.url)

t.test('steps store an artifact, which a later job and users download', async (t) => {
  const text = await readFile(DOCUMENT, 'utf8')
  const [, workflow = ''] = /runner-artifacts\.test\.ts -->\n```yaml\n(.*?)```/s.exec(text) ?? []
  const gatehouse = await startGatehouse(t, { workers: 1 })
  const ada = await gatehouse.addUser('ada')
  await ada.api('POST', '/user/repos', { name: 'engine', auto_init: true, private: true })
  await ada.api('PATCH', '/repos/ada/engine', { has_actions: true })
  const file = '/repos/ada/engine/contents/.gitea/workflows/ci.yaml'
  const content = Buffer.from(workflow).toString('base64')
  t.equal((await ada.api('POST', file, { content, message: 'Add it' })).status, 201)
  const made = await gatehouse.run('runner', 'token', '--repo', 'ada/engine')
  const cwd = await temporaryFolder(t)
  const register = ['--instance', gatehouse.url, '--token', made.output.trim(), '--labels', 'linux']
  const registered = await runCommand(t, ['runner', 'register', ...register], { cwd })
  t.equal(registered.exitCode, 0, registered.errorText)
  for (const job of ['build', 'use']) {
    const { exitCode, errorText } = await runCommand(t, ['runner', 'run', '--once'], { cwd })
    t.equal(exitCode, 0, `${job}: ${errorText}`)
  }
  const { body } = await ada.api('GET', '/repos/ada/engine/actions/artifacts')
  const { artifacts } = body as { artifacts: { id: number; size_in_bytes: number }[] }
  t.match(artifacts, [{ name: 'site' }])
  const headers = { authorization: `token ${ada.token}` }
  const path = `/api/v1/repos/ada/engine/actions/artifacts/${artifacts[0]?.id}/zip`
  const bytes = await (await fetch(`${gatehouse.url}${path}`, { headers })).arrayBuffer()
  t.equal(bytes.byteLength, artifacts[0]?.size_in_bytes)
  t.equal(Buffer.from(bytes).subarray(0, 2).toString(), 'PK')
})
