/** Gitea's own clients: its command-line client tea, and a program over its Go SDK. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { t } from 'tap'
import { type Name, startGatewayWithUsers } from '../helpers/gateway-with-users.js'
import { runSdkProgram } from '../helpers/gitea-sdk.js'
import { untilAllAreNotified } from '../helpers/notified.js'
import { signInWithTea } from '../helpers/tea.js'
import { temporaryFolder } from '../helpers/temporary.js'

const gateway = await startGatewayWithUsers(t)
const url = `http://127.0.0.1:${gateway.port}`
const tokenOf = (name: Name) => gateway.authorizationOf(name)?.replace('token ', '') ?? ''

t.test("Gitea's Go SDK reads back the project that it created", async (t) => {
  const { exitCode, output, errorText } = await runSdkProgram(url, tokenOf('root'))
  t.equal(errorText, '')
  t.equal(output, 'complete\n')
  t.equal(exitCode, 0)
})

t.test('a project is managed with tea', async (t) => {
  const tea = await signInWithTea(t, url, tokenOf('ada'))
  const did = async (...args: readonly string[]) => {
    const { exitCode, output, errorText } = await tea(...args)
    t.equal(exitCode, 0, `tea ${args.join(' ')} ${errorText}`)
    return output
  }
  const here = ['--repo', 'ada/library', '--login', 'gatehouse']

  t.match(await did('whoami'), /ada/)
  await did('repos', 'create', '--name', 'library', '--init', '--description', 'A project')
  t.match(await did('repos', 'ls', '--output', 'simple'), /library/)

  await did('labels', 'create', ...here, '--name', 'bug', '--color', '#ff0000')
  t.match(await did('labels', 'list', ...here, '--output', 'simple'), /bug/)
  await did('milestones', 'create', ...here, '--title', 'v1', '--description', 'First')
  t.match(await did('milestones', 'list', ...here, '--output', 'simple'), /v1/)

  await did('issues', 'create', ...here, '--title', 'It breaks', '--description', 'Often')
  await did(
    'issues',
    'create',
    ...here,
    '--title',
    'It is slow',
    '--labels',
    'bug',
    '--milestone',
    'v1',
    '--assignees',
    'ada',
  )
  t.match(await did('issues', 'list', ...here, '--output', 'simple'), /It breaks/)
  t.match(
    await did('issues', 'list', ...here, '--output', 'simple', '--labels', 'bug'),
    /^(?!.*breaks).*It is slow/s,
  )
  await did('comment', ...here, '1', 'Seen here as well')
  t.match(await did('issues', ...here, '--comments', '1'), /Seen here as well/)
  await did('issues', 'close', ...here, '1')
  t.notMatch(await did('issues', 'list', ...here, '--output', 'simple'), /It breaks/)
  await did('issues', 'reopen', ...here, '1')

  const content = Buffer.from('more\n').toString('base64')
  const file = { content, message: 'More', new_branch: 'feature' }
  t.equal((await gateway.as('ada', 'POST', '/repos/ada/library/contents/more', file)).status, 201)
  await did('pulls', 'create', ...here, '--head', 'feature', '--base', 'main', '--title', 'More')
  t.match(await did('pulls', 'list', ...here, '--output', 'simple'), /More/)
  t.match(await did('pulls', ...here, '--comments=false', '3'), /More/)
  await did('pulls', 'merge', ...here, '--style', 'squash', '3')
  t.match(await did('pulls', 'list', ...here, '--state', 'closed', '--output', 'simple'), /merged/)

  const asset = join(await temporaryFolder(t), 'tool.txt')
  await writeFile(asset, 'the tool\n')
  await did(
    'releases',
    'create',
    ...here,
    '--tag',
    'v1.0.0',
    '--title',
    'One',
    '--note',
    'Notes',
    '--asset',
    asset,
  )
  t.match(await did('releases', 'list', ...here, '--output', 'simple'), /v1\.0\.0/)
  const { json } = await gateway.as('ada', 'GET', '/repos/ada/library/releases/tags/v1.0.0')
  t.match(json, { name: 'One', body: 'Notes', assets: [{ name: 'tool.txt', size: 9 }] })
  await did('releases', 'delete', ...here, '--confirm', 'v1.0.0')

  await gateway.as('bob', 'POST', '/repos/ada/library/issues/1/comments', { body: 'And here' })
  await untilAllAreNotified(gateway)
  const list = ['notifications', 'ls', '--mine', '--login', 'gatehouse', '--output', 'simple']
  t.match(await did(...list), /unread.*It breaks/)
  await did('notifications', 'read', '--mine', '--login', 'gatehouse')
  t.notMatch(await did(...list), /It breaks/)
  t.match(await did(...list, '--states', 'read,pinned', '--types', 'issue'), /It breaks/)

  const pattern = { template: true }
  t.equal((await gateway.as('ada', 'PATCH', '/repos/ada/library', pattern)).status, 200)
  const from = ['repos', 'create-from-template', '--login', 'gatehouse', '--owner', 'ada']
  await did(...from, '--template', 'ada/library', '--name', 'second')
  t.match(await did('repos', 'ls', '--login', 'gatehouse', '--output', 'simple'), /second/)

  await did('organizations', 'create', '--login', 'gatehouse', 'guild')
  t.match(await did('organizations', 'list', '--output', 'simple'), /guild/)
})
