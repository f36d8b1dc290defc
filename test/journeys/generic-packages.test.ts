/** Generic packages: uploads and downloads with curl. */

import { createHash, randomBytes } from 'node:crypto'
import { readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Test, t } from 'tap'
import { runToEnd } from '../../cgi/process/run.js'
import type { GatewayWithUsers } from '../helpers/gateway-with-users.js'
import { forEachPackageGateway, onPackageGateway } from '../helpers/package-gateways.js'
import { passwordOf } from '../helpers/passwords.js'
import { temporaryFolder } from '../helpers/temporary.js'

/** Size of a file that the server sends in several chunks. */
const FILE_BYTES = 3_000_000

await forEachPackageGateway(
  t,
  'an uploaded file is downloaded whole, resumed and in ranges',
  async (t, gateway) => {
    const { url, token, curl, folder } = await openWorkspace(t, gateway)
    const content = randomBytes(FILE_BYTES)
    const file = join(folder, 'tool.bin')
    await writeFile(file, content)
    const there = `${url}/tool/1.0/tool.bin`
    t.match(await curl('--user', `ada:${token}`, '--upload-file', file, there), {
      status: '201',
    })
    const again = await curl('--user', `ada:${token}`, '--upload-file', file, there)
    t.match(again, { status: '409', output: /already exists/ })

    const copy = join(folder, 'copy.bin')
    t.match(await curl('--location', '--output', copy, there), { status: '200' })
    t.ok(content.equals(await readFile(copy)), 'the bytes are the same')
    await truncate(copy, FILE_BYTES / 3)
    const rest = await curl('--location', '--continue-at', '-', '--output', copy, there)
    t.match(rest, { status: '206' })
    t.ok(content.equals(await readFile(copy)), 'a truncated download is resumed')
    const none = await curl('--location', '--continue-at', '-', '--output', copy, there)
    t.match(none, { status: '416' }, 'resuming a complete download returns 416')
    const part = join(folder, 'part.bin')
    await curl('--location', '--range', '1000-1999', '--output', part, there)
    t.ok(content.subarray(1_000, 2_000).equals(await readFile(part)))
    const head = await curl('--location', '--head', there)
    t.match(head.output, new RegExp(`content-length: ${FILE_BYTES}`, 'i'))
  },
  { isRedirected: true },
)

await onPackageGateway(
  t,
  'SQLite and files',
  'credentials are accepted in each way that curl sends them',
  async (t, gateway) => {
    const { url, token, curl, folder } = await openWorkspace(t, gateway)
    const password = passwordOf('ada')
    const file = join(folder, 'note')
    await writeFile(file, 'a note')
    const netrc = join(folder, 'netrc')
    await writeFile(netrc, `machine 127.0.0.1 login ada password ${token}\n`)
    const withCredentials = url.replace('//', `//ada:${token}@`)
    const ways: Readonly<Record<string, readonly string[]>> = {
      'a token as password': ['--user', `ada:${token}`],
      'the password itself': ['--user', `ada:${password}`],
      'a header of the API': ['--header', `Authorization: token ${token}`],
      'a bearer token': ['--header', `Authorization: Bearer ${token}`],
      'a netrc': ['--netrc-file', netrc],
    }
    for (const [index, [what, words]] of Object.entries(ways).entries()) {
      const sent = await curl(...words, '--upload-file', file, `${url}/notes/${index}/note`)
      t.match(sent, { status: '201' }, what)
    }
    const inUrl = await curl('--upload-file', file, `${withCredentials}/notes/url/note`)
    t.match(inUrl, { status: '201' }, 'credentials in the URL')
    t.match(await curl('--upload-file', file, `${url}/notes/none/note`), { status: '401' })
    const form = await curl(
      '--user',
      `ada:${token}`,
      '--form',
      `file=@${file}`,
      '--request',
      'PUT',
      `${url}/notes/form/note`,
    )
    t.match(form, { status: '201' }, 'a form with one file')
    t.match(await curl('--location', `${url}/notes/form/note`), { output: /^a note/ })
  },
)

await onPackageGateway(
  t,
  'SQLite and files',
  'an upload is stored only if it has the checksum that the client sends',
  async (t, gateway) => {
    const { url, token, curl, folder } = await openWorkspace(t, gateway)
    const file = join(folder, 'note')
    await writeFile(file, 'a note')
    const there = `${url}/checked/1.0/note`
    const put = (...words: readonly string[]) =>
      curl('--user', `ada:${token}`, '--upload-file', file, ...words, there)
    const digest = (name: string) => createHash(name).update('a note').digest('hex')
    const sha256 = digest('sha256')
    const other = sha256.replaceAll(/[0-9a-f]$/g, (last) => (last === '0' ? '1' : '0'))
    const refused = await put('--header', `X-Checksum-Sha256: ${other}`)
    t.equal(refused.status, '400')
    t.match(refused.output, `X-Checksum-Sha256: ${other}, received: ${sha256}`)
    for (const [header, text] of [
      ['Sha256', sha256.slice(1)],
      ['Sha256', `${sha256.slice(1)}g`],
      ['Sha1', digest('sha512')],
      ['Md5', `${digest('md5')},${digest('md5')}`],
    ] as const) {
      const answer = await put('--header', `X-Checksum-${header}: ${text}`)
      t.match(answer, { status: '400', output: /hexadecimal digits/ }, `${header} ${text}`)
    }
    for (const name of ['md5', 'sha1', 'sha512']) {
      const wrong = await put('--header', `X-Checksum-${name}: ${digest(name).replace(/./g, '0')}`)
      t.match(wrong, { status: '400', output: /differs from its checksum/ }, name)
    }
    t.match(await curl(there), { status: '404' }, 'nothing was stored')
    const right = ['md5', 'sha1', 'sha512'].flatMap((name) => [
      '--header',
      `X-Checksum-${name}: ${digest(name)}`,
    ])
    const words = [...right, '--header', `X-Checksum-Sha256: ${sha256.toUpperCase()}`]
    t.match(await put(...words), { status: '201' })
    t.match(await curl('--location', there), { output: /^a note/ })
  },
)

await onPackageGateway(
  t,
  'SQLite and files',
  'names, versions and files that clients remove from URLs are refused',
  async (t, gateway) => {
    const { url, token, curl, folder } = await openWorkspace(t, gateway)
    const file = join(folder, 'note')
    await writeFile(file, 'a note')
    // With --upload-file, curl itself removes dots at the end of the path.
    const body = ['--request', 'PUT', '--data-binary', `@${file}`]
    const type = ['--header', 'Content-Type: application/octet-stream']
    const put = (path: string) =>
      curl('--user', `ada:${token}`, '--path-as-is', ...body, ...type, url + path)
    for (const dots of ['.', '..', '%2e', '%2E%2e', '.%2e', '%252e', '%252e%252e']) {
      for (const path of [`/${dots}/1/f`, `/dots/${dots}/f`, `/dots/1/${dots}`]) {
        t.match(await put(path), { status: '400', output: /invalid/ }, path)
      }
    }
    for (const version of ['1%2F..%2F2', '..%2F1', '1%2F%2e', '1%5C..']) {
      t.match(await put(`/dots/${version}/f`), { status: '400', output: /no segment/ }, version)
    }
    t.match(await put('/dots/1..2/f'), { status: '201' })
    t.match(await curl('--location', `${url}/dots/1..2/f`), { status: '200' })
  },
)

interface Workspace {
  /** URL of ada's generic packages. */
  readonly url: string
  readonly token: string
  readonly folder: string
  curl(...words: readonly string[]): Promise<{ readonly status: string; readonly output: string }>
}

async function openWorkspace(t: Test, gateway: GatewayWithUsers): Promise<Workspace> {
  const folder = await temporaryFolder(t)
  return {
    folder,
    token: gateway.authorizationOf('ada')?.replace('token ', '') ?? '',
    url: `http://127.0.0.1:${gateway.port}/api/packages/ada/generic`,
    async curl(...words) {
      const all = ['--silent', '--show-error', '--write-out', '\\n%{http_code}', ...words]
      const { output: bytes } = await runToEnd('curl', all, {
        cwd: folder,
        environment: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', HOME: folder },
        timeoutMs: 60_000,
        outputBytesMax: 1_000_000,
      })
      const output = bytes.toString()
      const at = output.lastIndexOf('\n')
      return { status: output.slice(at + 1), output: output.slice(0, at) }
    },
  }
}
