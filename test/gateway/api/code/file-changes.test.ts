/** Files over the API: each write is one commit and changes nothing else. */

import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { FILES_JSON_BYTES_MAX } from '../../../../gateway/api/code/file-changes.js'
import { isExpected } from '../../../helpers/expected.js'
import {
  type GatewayWithUsers,
  type Name,
  startGatewayWithUsers,
} from '../../../helpers/gateway-with-users.js'
import { git } from '../../../helpers/git-client.js'
import type { Answer } from '../../../helpers/requests.js'
import { isFullSize } from '../../../helpers/test-size.js'
import { cloneInto } from '../../../helpers/working-copy.js'

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64')

interface Scene extends GatewayWithUsers {
  readonly path: string
  file(name: Name, method: string, filepath: string, body?: unknown): Promise<Answer>
  /** Runs git in the repository. */
  inside(...args: readonly string[]): Promise<string>
  idOf(revision: string): Promise<string>
}

async function scene(t: Test, fields: Record<string, unknown> = {}): Promise<Scene> {
  const gateway = await startGatewayWithUsers(t)
  await gateway.as('ada', 'POST', '/user/repos', { name: 'r', ...fields })
  const path = await gateway.pathOf('ada', 'r')
  const inside = (...args: readonly string[]) => git(args, { cwd: path })
  return {
    ...gateway,
    path,
    inside,
    file: (name, method, filepath, body) =>
      gateway.as(name, method, `/repos/ada/r/contents${filepath}`, body),
    idOf: (revision) => inside('rev-parse', revision),
  }
}

const DATES = { author: '2024-02-29T12:00:00+05:45', committer: '2024-03-01T00:00:00.5Z' }

for (const object_format_name of ['sha1', 'sha256']) {
  t.test(`the first file of an empty repository is committed: ${object_format_name}`, async (t) => {
    const { file, inside, as } = await scene(t, { object_format_name })
    const made = await file('ada', 'POST', '/src/a%20b/%C3%BC.txt', {
      content: base64('hello\n'),
      message: 'First\n\nWhy.',
      dates: DATES,
      signoff: true,
      author: { name: 'Grace', email: 'grace@example.com' },
    })
    t.equal(made.status, 201, made.text)
    if (object_format_name === 'sha1') isExpected(t, made.json, 'api/file-created')
    t.equal(await inside('show', 'main:src/a b/ü.txt'), 'hello')
    t.equal(
      await inside('log', '--format=%an %ae %ai|%cn %ce %ci|%B', 'main'),
      'Grace grace@example.com 2024-02-29 12:00:00 +0545|' +
        'Grace grace@example.com 2024-03-01 00:00:00 +0000|' +
        'First\n\nWhy.\n\nSigned-off-by: Grace <grace@example.com>',
    )
    t.match((await as('ada', 'GET', '/repos/ada/r')).json, { empty: false })
    await inside('fsck', '--strict', '--full')
  })
}

t.test('a file is created, changed, renamed and deleted in one commit each', async (t) => {
  const { file, inside, idOf } = await scene(t, { auto_init: true })
  const created = await file('ada', 'POST', '/a/b', { content: base64('one') })
  const { sha } = (created.json as { content: { sha: string } }).content
  t.equal(sha, await idOf('main:a/b'))
  const stale = await file('ada', 'PUT', '/a/b', { content: '', sha: '1'.repeat(40) })
  t.match(stale, {
    status: 422,
    json: { message: `sha does not match [given: ${'1'.repeat(40)}, expected: ${sha}]` },
  })
  const updated = await file('ada', 'PUT', '/a/b', { content: base64('two'), sha })
  t.match(updated, { status: 200, json: { content: { content: base64('two'), size: 3 } } })
  const two = await idOf('main:a/b')
  const moved = await file('ada', 'PUT', '/c/d', {
    content: base64('three'),
    sha: two,
    from_path: 'a/b',
  })
  t.match(moved, { status: 200, json: { content: { path: 'c/d' } } })
  t.equal(await inside('ls-tree', '-r', '--name-only', 'main'), 'README.md\nc/d')
  t.match(
    await file('ada', 'PUT', '/a', { content: '' }),
    { status: 200 },
    'the folder is deleted as well',
  )
  const three = await idOf('main:c/d')
  const missing = await file('ada', 'DELETE', '/c/x', { sha: three })
  t.match(missing, { status: 404, json: { message: 'repository file does not exist [path: c/x]' } })
  t.match(await file('ada', 'DELETE', '/c/d', { sha: two }), { status: 400 })
  t.match(await file('ada', 'DELETE', '/c/d', {}), {
    status: 422,
    json: { message: '[SHA]: Required' },
  })
  const removed = await file('ada', 'DELETE', '/c/d', { sha: three })
  t.match(removed, { status: 200, json: { content: null } })
  t.equal(
    await inside('log', '--format=%s by %an', 'main'),
    ['Delete c/d', 'Add a', 'Update c/d', 'Update a/b', 'Add a/b', 'Initial commit']
      .map((subject) => `${subject} by ada`)
      .join('\n'),
  )
  t.equal(await inside('ls-tree', '-r', '--name-only', 'main'), 'README.md\na')
  await inside('fsck', '--strict', '--full')
})

t.test('several files are changed in one commit', async (t) => {
  const { as, inside, idOf } = await scene(t, { auto_init: true })
  const change = (body: unknown) => as('ada', 'POST', '/repos/ada/r/contents', body)
  const readme = await idOf('main:README.md')
  const first = await change({
    files: [
      { operation: 'create', path: 'x/1', content: base64('1') },
      { operation: 'create', path: 'x/2', content: base64('2') },
      { operation: 'update', path: 'LIESMICH', from_path: 'README.md', sha: readme },
    ],
    new_branch: 'side',
  })
  t.equal(first.status, 201, first.text)
  t.match(first.json, {
    files: [{ path: 'x/1' }, { path: 'x/2' }, { path: 'LIESMICH', sha: readme }],
  })
  t.equal(await inside('log', '-1', '--format=%B', 'side'), 'Add x/1, x/2\nUpdate LIESMICH')
  t.equal(await inside('ls-tree', '-r', '--name-only', 'side'), 'LIESMICH\nx/1\nx/2')
  t.equal(await inside('ls-tree', '-r', '--name-only', 'main'), 'README.md')
  const one = await idOf('side:x/1')
  const second = await change({
    files: [
      { operation: 'delete', path: 'x/1', sha: one },
      { operation: 'create', path: 'x/1/deep', content: '' },
    ],
    branch: 'side',
  })
  t.match(second, {
    status: 201,
    json: { files: [null, { path: 'x/1/deep', size: 0, content: '' }] },
  })
  const before = await idOf('side')
  const refused = [
    [
      { operation: 'create', path: 'y', content: '' },
      { operation: 'create', path: 'y', content: '' },
    ],
    [
      { operation: 'create', path: 'y', content: '' },
      { operation: 'create', path: 'y/z', content: '' },
    ],
    [
      { operation: 'create', path: 'y', content: '' },
      { operation: 'create', path: '.git/z', content: '' },
    ],
    [{ operation: 'update', path: 'x/2', content: '' }],
    [{ operation: 'delete', path: 'x', sha: await idOf('side:x') }],
    [],
    [{ operation: 'rename', path: 'y' }],
  ]
  for (const files of refused) {
    t.match(await change({ files, branch: 'side' }), { status: 422 }, JSON.stringify(files))
  }
  t.equal(await idOf('side'), before)
  await inside('fsck', '--strict', '--full')
})

t.test('each invalid change is refused with its reason and makes no commit', async (t) => {
  const { file, inside, as } = await scene(t, { auto_init: true, private: false })
  await as('ada', 'POST', '/repos/ada/r/contents', {
    files: [{ operation: 'create', path: 'd/f', content: '' }],
    new_branch: 'dev/x',
  })
  await file('ada', 'POST', '/d/f', { content: '' })
  const before = await inside('for-each-ref')
  const content = base64('x')
  const cases: ReadonlyArray<readonly [string, unknown, number, string | RegExp]> = [
    ['/README.md', { content }, 422, 'repository file already exists [path: README.md]'],
    ['/d', { content }, 422, 'repository file already exists [path: d]'],
    ['/d/f/g', { content }, 422, /a file exists where you're trying to create a subdirectory/],
    ['/x', { content: 'a' }, 422, 'content is not base64'],
    ['/x', { content: 'a-_=' }, 422, 'content is not base64'],
    ['/x', {}, 422, '[Content]: Required'],
    ['/x', { content, branch: 'absent' }, 404, 'branch does not exist [name: absent]'],
    ['/x', { content, new_branch: 'dev/x' }, 422, 'branch already exists [name: dev/x]'],
    ['/x', { content, new_branch: 'dev' }, 422, /name conflicts/],
    ['/x', { content, new_branch: 'a..b' }, 422, /branch name/],
    ['/x', { content, branch: '--upload-pack=x' }, 422, /branch name/],
    ['/x', { content, dates: { author: 'yesterday' } }, 422, /Dates/],
    ['/x', { content, author: { email: 'x'.repeat(255) } }, 422, /Author/],
    ['/', { content }, 422, /malformed path/],
    ['/a//b', { content }, 422, /malformed path/],
    ['/%2e%2e/x', { content }, 422, /malformed path/],
  ]
  for (const [path, body, status, message] of cases) {
    const answer = await file('ada', 'POST', path, body)
    t.match(
      answer,
      { status, json: { message } },
      `${path} ${JSON.stringify(body).slice(0, 80)} ${answer.text}`,
    )
  }
  t.match(await file('bob', 'POST', '/x', { content }), { status: 403 })
  t.match(await file('anyone', 'POST', '/x', { content }), { status: 401 })
  await as('ada', 'PATCH', '/repos/ada/r', { archived: true })
  for (const [method, body] of [
    ['POST', { content }],
    ['PUT', { content }],
    ['DELETE', { sha: 'x' }],
  ] as const) {
    t.match(await file('ada', method, '/x', body), {
      status: 423,
      json: { message: 'repo is archived' },
    })
  }
  t.equal(await inside('for-each-ref'), before)
})

t.test('author, committer and dates are those of the request', async (t) => {
  const { file, inside } = await scene(t, { auto_init: true })
  const zero = { author: '0001-01-01T00:00:00Z', committer: '0001-01-01T00:00:00Z' }
  const nobody = { name: '', email: '' }
  await file('ada', 'POST', '/1', { content: '', dates: zero, author: nobody, committer: nobody })
  await file('ada', 'POST', '/2', { content: '', committer: { name: 'C', email: 'c@x' } })
  await file('ada', 'POST', '/3', {
    content: '',
    author: { name: 'A' },
    committer: { email: 'c@x' },
    signoff: true,
  })
  t.equal(
    await inside('log', '-3', '--format=%an <%ae> %cn <%ce> %s', 'main'),
    [
      'A <ada@example.com> ada <c@x> Add 3',
      'C <c@x> C <c@x> Add 2',
      'ada <ada@example.com> ada <ada@example.com> Add 1',
    ].join('\n'),
  )
  const year = await inside('log', '-1', '--format=%ad', '--date=format:%Y', 'main~2')
  t.equal(year, String(new Date().getFullYear()))
})

t.test('modes, symbolic links and files with unusual names are unchanged', async (t) => {
  const { file, inside, path, idOf } = await scene(t)
  const copy = await cloneInto(t, path)
  await writeFile(join(copy.path, 'run'), 'x', { mode: 0o755 })
  await symlink('run', join(copy.path, 'link'))
  await writeFile(Buffer.concat([Buffer.from(`${copy.path}/\n`), Buffer.of(0xff)]), 'odd')
  await copy.git('add', '.')
  await copy.git('commit', '-qm', 'x')
  await copy.git('push', '-q', 'origin', 'HEAD:main')
  const odd = (await inside('ls-tree', 'main')).split('\n').at(0)
  t.match(odd, /"\\n\\377"/)
  for (const name of ['run', 'link']) {
    const sha = await idOf(`main:${name}`)
    t.match(await file('ada', 'PUT', `/${name}`, { content: base64('new'), sha }), { status: 200 })
  }
  const moved = { content: base64('new'), sha: await idOf('main:run'), from_path: 'run' }
  t.match(await file('ada', 'PUT', '/bin/go', moved), { status: 200 })
  t.match(await file('ada', 'PUT', '/link/x', { content: '' }), { status: 422 })
  const [oddNow, ...others] = (await inside('ls-tree', '-r', 'main')).split('\n')
  t.equal(oddNow, odd)
  const id = await idOf('main:link')
  t.strictSame(others, [`100755 blob ${id}\tbin/go`, `120000 blob ${id}\tlink`])
  await inside('fsck', '--strict', '--full')
})

const CHANGES = isFullSize ? 20 : 8

t.test(
  'of concurrent changes all succeed for different files and one for the same file',
  async (t) => {
    const { file, inside } = await scene(t)
    const numbers = Array.from({ length: CHANGES }, (_, at) => at)
    const all = await Promise.all(
      numbers.map((at) => file('ada', 'POST', `/d/${at}`, { content: base64(String(at)) })),
    )
    t.strictSame(
      all.map(({ status }) => status),
      numbers.map(() => 201),
    )
    t.equal((await inside('ls-tree', '--name-only', 'main:d')).split('\n').length, CHANGES)
    t.equal(await inside('rev-list', '--count', 'main'), String(CHANGES))
    const same = await Promise.all(numbers.map(() => file('ada', 'POST', '/one', { content: '' })))
    t.strictSame(same.map(({ status }) => status).sort(), [201, ...Array(CHANGES - 1).fill(422)])
    await inside('fsck', '--strict', '--full')
  },
)

t.test('a large file is written and read, and one beyond the limit is refused', async (t) => {
  const { file, inside } = await scene(t)
  const large = Buffer.alloc(11_000_000, 'large ')
  const made = await file('ada', 'POST', '/large', { content: base64(large) })
  t.match(made, { status: 201, json: { content: { size: 11_000_000, content: null } } })
  t.equal(await inside('cat-file', '-s', 'main:large'), '11000000')
  const huge = await file(
    'ada',
    'POST',
    '/huge',
    `{"content":"${'A'.repeat(FILES_JSON_BYTES_MAX)}"}`,
  )
  t.equal(huge.status, 413)
})

t.test('every operation that starts a writing git takes a slot in its queue', async (t) => {
  const { as, server } = await startGatewayWithUsers(t)
  await as('ada', 'POST', '/user/repos', { name: 'r', auto_init: true })
  const places = async () => {
    const text = await server.metrics.registry.metrics()
    return Number(/^gatehouse_git_queue_wait_seconds_count (\d+)$/m.exec(text)?.[1])
  }
  const content = base64('x')
  const files = [{ operation: 'create', path: 'b', content }]
  const writes: ReadonlyArray<readonly [string, string, object?]> = [
    ['POST', '/contents/a', { content }],
    ['POST', '/contents', { files }],
    ['POST', '/branches', { new_branch_name: 'side' }],
    ['PATCH', '/branches/side', { name: 'other' }],
    ['DELETE', '/branches/other'],
    ['POST', '/tags', { tag_name: 'v1' }],
    ['DELETE', '/tags/v1'],
  ]
  for (const [method, path, body] of writes) {
    const before = await places()
    const { status } = await as('ada', method, `/repos/ada/r${path}`, body)
    t.match(status, /^20[014]$/, `${method} ${path}`)
    t.equal((await places()) - before, 1)
  }
})
