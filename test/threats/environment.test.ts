/** Threat: request headers become variables of git's environment (httpoxy and similar attacks). */

import { readFile } from 'node:fs/promises'
import { t } from 'tap'
import { startGatehouse } from '../helpers/gatehouse.js'
import { git, tryGit } from '../helpers/git-client.js'
import { gitRequest, pushHead } from '../helpers/git-requests.js'
import { connectTo, converse } from '../helpers/raw-http.js'
import { gitProcessesOf, until } from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'

const HOSTILE_HEADERS = [
  'Proxy: http://evil.example:1/',
  'Remote-User: evil',
  'Remote_User: evil',
  'Auth-Type: evil',
  'Git_Protocol: version=9-evil',
  'Content_Encoding: evil',
  'Content_Type: evil',
  'GIT-PROJECT-ROOT: /evil',
  'GIT_PROJECT_ROOT: /evil',
  'Git-Config-Count: 1',
  'Git-Config-Key-0: core.hooksPath',
  'Git-Config-Value-0: /evil',
  'Path-Info: /evil',
  'Path: /evil',
  'LD_PRELOAD: /evil.so',
  'X-Evil: evil',
  'X-Forwarded-Host: evil.example',
]

/** Variables that cgi/transfer and cgi/process/git.ts set for git. */
const KNOWN = new RegExp(
  '^(?:PATH|HOME|LC_ALL|GATEWAY_INTERFACE|SERVER_PROTOCOL|PATH_INFO|QUERY_STRING|REQUEST_METHOD' +
    '|REMOTE_ADDR|REMOTE_USER|CONTENT_TYPE|CONTENT_LENGTH|HTTP_CONTENT_ENCODING|GIT_PROTOCOL' +
    '|GIT_PROJECT_ROOT|GIT_HTTP_EXPORT_ALL|GIT_CONFIG_SYSTEM|GIT_CONFIG_GLOBAL' +
    '|GIT_COMMITTER_NAME|GIT_COMMITTER_EMAIL|GIT_TERMINAL_PROMPT|GIT_CONFIG_COUNT|GIT_CONFIG_(?:KEY|VALUE)_\\d' +
    '|GATEHOUSE_UPDATES|GATEHOUSE_CHANGES)$',
)

/** True if git must not have the variable. */
const isStrange = (name: string) => !KNOWN.test(name)

t.test('headers named like environment variables have no effect', async (t) => {
  const gatehouse = await startGatehouse(t)
  const ada = await gatehouse.addUser('ada')
  t.equal((await ada.api('POST', '/user/repos', { name: 'library', auto_init: true })).status, 201)

  await t.test('git gets only the variables that the server sets', async (t) => {
    const socket = await connectTo(gatehouse.port)
    const headers = `${HOSTILE_HEADERS.join('\r\n')}\r\n`
    const bodyBytes = 1_000_000
    socket.write(gitRequest({ service: 'git-receive-pack', token: ada.token, headers, bodyBytes }))
    // Git starts when the first pkt-line has arrived.
    socket.write(pushHead('1'.repeat(40), 'refs/heads/main'))
    const [found] = await until(
      () => gitProcessesOf(gatehouse.dataDir),
      (processes) => processes.length > 0,
      10_000,
    )
    const text = await readFile(`/proc/${found?.pid}/environ`, 'utf8')
    socket.destroy()
    const variables = new Map(
      text
        .split('\0')
        .filter((line) => line !== '')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    )
    t.ok(variables.size > 10)
    t.strictSame([...variables.keys()].filter(isStrange), [])
    t.notMatch(text, 'evil')
    t.equal(variables.get('REMOTE_USER'), 'ada', 'REMOTE_USER is the owner of the token')
    t.equal(variables.get('REMOTE_ADDR'), '127.0.0.1')
    t.equal(variables.get('GIT_COMMITTER_EMAIL'), 'ada@http.127.0.0.1')
    t.notOk(variables.has('GIT_PROTOCOL') || variables.has('HTTP_CONTENT_ENCODING'))
  })

  await t.test('a push and a clone with such headers succeed', async (t) => {
    const folder = await temporaryFolder(t)
    const flags = HOSTILE_HEADERS.flatMap((header) => ['-c', `http.extraHeader=${header}`])
    const remote = ada.remote('ada/library.git')
    await git([...flags, 'clone', '--quiet', remote, 'clone'], { cwd: folder })
    const cwd = `${folder}/clone`
    await git(['commit', '--quiet', '--allow-empty', '-m', 'More'], { cwd })
    const pushed = await tryGit([...flags, 'push', '--quiet', 'origin', 'HEAD'], { cwd })
    t.equal(pushed.exitCode, 0, pushed.errorText)
    const tip = await git(['rev-parse', 'HEAD'], { cwd })
    t.match(await git(['ls-remote', remote], { cwd }), tip)
  })

  await t.test('an anonymous push with such headers is refused', async (t) => {
    const cwd = await temporaryFolder(t)
    const url = `http://127.0.0.1:${gatehouse.port}/ada/library.git`
    const flags = HOSTILE_HEADERS.flatMap((header) => ['-c', `http.extraHeader=${header}`])
    await git(['init', '--quiet'], { cwd })
    await git(['commit', '--quiet', '--allow-empty', '-m', 'One'], { cwd })
    const pushed = await tryGit([...flags, 'push', '--quiet', url, 'HEAD:refs/heads/evil'], { cwd })
    t.not(pushed.exitCode, 0)
    t.match(pushed.errorText, /could not read Username|Authentication failed|401/)
  })

  await t.test(
    'a NUL in Git-Protocol is answered with 400 and closes the connection',
    async (t) => {
      const request =
        'GET /ada/library.git/info/refs?service=git-upload-pack HTTP/1.1\r\nHost: a\r\n' +
        `Authorization: token ${ada.token}\r\nGit-Protocol: version=2\0x\r\n\r\n`
      const { statuses, isClosed } = await converse(gatehouse.port, [request])
      t.strictSame(statuses, [400])
      t.ok(isClosed)
    },
  )
})
