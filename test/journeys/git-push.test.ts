/** Accepted pushes, in every form that git and curl send; the repository stays consistent. */

import { execFile } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { runToEnd } from '../../cgi/process/run.js'
import { onOneDatabase } from '../helpers/databases.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { askRaw, basic } from '../helpers/literal-http.js'
import { faultsOnDisk, makeRepository } from '../helpers/repositories.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'
import {
  incompressible,
  newWorkingCopy,
  type WorkingCopy,
  writeHistory,
} from '../helpers/working-copy.js'

/** Size above http.postBuffer, the buffer that git fills before it sends chunks. */
const LARGE_BYTES = isFullSize ? 5_000_000 : 1_200_000
const NULL_ID = '0'.repeat(40)

interface Workspace {
  readonly gatehouse: Gatehouse
  readonly ada: Person
  readonly copy: WorkingCopy
  /** URL of the repository of `copy`, with credentials. */
  readonly address: string
}

/** Runs a subtest. At full size, `git fsck` then checks every repository on the disk. */
async function step(
  t: Test,
  { gatehouse }: Workspace,
  name: string,
  act: (t: Test) => Promise<void>,
): Promise<void> {
  await t.test(name, async (t) => {
    await act(t)
    if (isFullSize) t.same(await faultsOnDisk(gatehouse), [], 'git fsck finds nothing')
  })
}

/** Returns the object id of a ref on the server, or an empty string. */
async function remoteRef({ copy, address }: Workspace, ref: string): Promise<string> {
  return (await copy.git('ls-remote', address, ref)).split('\t')[0] ?? ''
}

// Each query has a test on both databases, in test/sql.
await onOneDatabase(t, 'pushes are accepted', async (t, location) => {
  const gatehouse = await startGatehouse(t, { location, workers: 1 })
  const ada = await gatehouse.addUser('ada')
  await makeRepository(ada, 'work')
  const copy = await newWorkingCopy(t)
  const workspace = { gatehouse, ada, copy, address: ada.remote('ada/work.git') }
  await copy.git('remote', 'add', 'origin', workspace.address)
  await firstPush(t, workspace)
  await branches(t, workspace)
  await tags(t, workspace)
  await manyReferences(t, workspace)
  await largePushes(t, workspace)
  await craftedPushes(t, workspace)
  // Faults of the steps last, because nothing removes objects.
  t.same(await faultsOnDisk(gatehouse), [], 'git fsck finds nothing')
})

async function firstPush(t: Test, workspace: Workspace): Promise<void> {
  const { copy, ada } = workspace

  await step(t, workspace, 'the first push creates the default branch', async (t) => {
    const commit = await copy.commit('first')
    const { exitCode, errorText } = await copy.try(['push', '-u', 'origin', 'main'])
    t.equal(exitCode, 0)
    t.match(errorText, /\[new branch\] +main -> main/)
    t.equal(await remoteRef(workspace, 'HEAD'), commit)
  })

  await step(t, workspace, 'the API reports a repository that is not empty', async (t) => {
    const isEmpty = async () => {
      const { body } = await ada.api('GET', '/repos/ada/work')
      return (body as { empty: boolean }).empty
    }
    t.equal(await isEmpty(), false)
  })
}

async function branches(t: Test, workspace: Workspace): Promise<void> {
  const { copy } = workspace

  for (const version of ['0', '1', '2']) {
    await step(t, workspace, `a second push updates the branch (version ${version})`, async (t) => {
      const commit = await copy.commit(`more-${version}`)
      await copy.git('-c', `protocol.version=${version}`, 'push', '--quiet', 'origin', 'main')
      t.equal(await remoteRef(workspace, 'refs/heads/main'), commit)
      const again = await copy.try(['push', 'origin', 'main'])
      t.match(again.errorText, /Everything up-to-date/)
    })
  }

  await step(t, workspace, 'a forced push replaces history, a plain one does not', async (t) => {
    await copy.git('commit', '--quiet', '--amend', '-m', 'Another word')
    const commit = await copy.git('rev-parse', 'HEAD')
    const plain = await copy.try(['push', 'origin', 'main'])
    t.not(plain.exitCode, 0)
    t.match(plain.errorText, /non-fast-forward/)
    await copy.git('push', '--quiet', '--force-with-lease', 'origin', 'main')
    t.equal(await remoteRef(workspace, 'refs/heads/main'), commit)
  })

  await step(t, workspace, 'a branch is created, renamed and deleted', async (t) => {
    await copy.git('push', '--quiet', 'origin', 'main:refs/heads/feature/deep/name')
    t.not(await remoteRef(workspace, 'refs/heads/feature/deep/name'), '')
    await copy.git('push', '--quiet', 'origin', 'main:refs/heads/plain', ':feature/deep/name')
    t.equal(await remoteRef(workspace, 'refs/heads/feature/deep/name'), '')
    await copy.git('push', '--quiet', 'origin', 'main:refs/heads/feature', ':plain')
    await copy.git('push', '--quiet', 'origin', '--delete', 'feature')
    t.equal(await remoteRef(workspace, 'refs/heads/*'), await copy.git('rev-parse', 'main'))
  })

  await step(t, workspace, 'branches with names in any script are pushed', async (t) => {
    const names = ['café', '日本語', 'a+b&c=d', 'with%20percent', "it's"]
    await copy.git('push', '--quiet', 'origin', ...names.map((name) => `main:refs/heads/${name}`))
    const listed = (await copy.git('ls-remote', '--heads', 'origin')).split('\n')
    for (const name of names) {
      t.ok(
        listed.some((line) => line.endsWith(`\trefs/heads/${name}`)),
        name,
      )
    }
    await copy.git('push', '--quiet', 'origin', ...names.map((name) => `:refs/heads/${name}`))
    t.equal(await remoteRef(workspace, 'refs/heads/*'), await copy.git('rev-parse', 'main'))
  })
}

async function tags(t: Test, workspace: Workspace): Promise<void> {
  const { copy } = workspace

  await step(
    t,
    workspace,
    'lightweight and annotated tags are pushed, moved only by force, and deleted',
    async (t) => {
      await copy.git('tag', 'light')
      await copy.git('tag', '-a', 'v1.0', '-m', 'The first')
      await copy.git('push', '--quiet', 'origin', '--tags')
      t.equal(await remoteRef(workspace, 'refs/tags/light'), await copy.git('rev-parse', 'main'))
      t.equal(await remoteRef(workspace, 'refs/tags/v1.0'), await copy.git('rev-parse', 'v1.0'))
      await copy.git('tag', '-f', 'light', 'HEAD~1')
      t.match((await copy.try(['push', 'origin', 'light'])).errorText, /already exists/)
      await copy.git('push', '--quiet', '--force', 'origin', 'light')
      t.equal(await remoteRef(workspace, 'refs/tags/light'), await copy.git('rev-parse', 'HEAD~1'))
      await copy.git('push', '--quiet', 'origin', ':refs/tags/light')
      t.equal(await remoteRef(workspace, 'refs/tags/light'), '')
    },
  )
}

async function manyReferences(t: Test, workspace: Workspace): Promise<void> {
  const { ada, gatehouse } = workspace

  await step(
    t,
    workspace,
    '300 branches and 100 tags are pushed in one push, and 300 branches deleted in another',
    async (t) => {
      const repository = await makeRepository(ada, 'many')
      const many = await newWorkingCopy(t)
      await writeHistory(many, { commits: 2, branches: 300, tags: 100 })
      const address = ada.remote(`${repository}.git`)
      await many.git('push', '--quiet', address, 'refs/heads/*:refs/heads/*', '--tags')
      const listed = async () => (await many.git('ls-remote', address, 'refs/*')).split('\n').sort()
      const kept = await many.git('for-each-ref', '--format=%(objectname)%09%(refname)')
      t.same(await listed(), kept.split('\n').sort())
      const deletions = Array.from({ length: 300 }, (_, at) => `:branch-${at + 1}`)
      await many.git('push', '--quiet', address, ...deletions)
      t.equal((await listed()).length, 101)
      t.notMatch(gatehouse.log(), /"level":"error"/)
    },
  )
}

/**
 * Reads a trace of git, slowly at its end: git waits for its reader after each chunk that it has
 * sent, also after the last one with a part of the pack.
 */
async function readSlowly(trace: string): Promise<void> {
  let seenBytes = 0
  for await (const part of createReadStream(trace, { highWaterMark: 4_096 })) {
    seenBytes += part.length
    if (seenBytes > LARGE_BYTES) await sleep(8)
  }
}

async function largePushes(t: Test, workspace: Workspace): Promise<void> {
  const { copy } = workspace

  await step(t, workspace, 'a push larger than http.postBuffer is sent in chunks', async (t) => {
    const commit = await copy.commit('large-1', incompressible(LARGE_BYTES))
    const { exitCode, errorText } = await copy.try(['push', 'origin', 'main'], {
      environment: { GIT_TRACE_CURL: '1', GIT_TRACE_CURL_NO_DATA: '1' },
    })
    t.equal(exitCode, 0)
    t.ok(/=> Send header: Transfer-Encoding: chunked/i.test(errorText))
    t.equal(await remoteRef(workspace, 'refs/heads/main'), commit)
  })

  await step(
    t,
    workspace,
    'a push that fits into the buffer is sent with its length',
    async (t) => {
      const commit = await copy.commit('large-2', incompressible(LARGE_BYTES))
      await copy.git('-c', 'http.postBuffer=20000000', 'push', '--quiet', 'origin', 'main')
      t.equal(await remoteRef(workspace, 'refs/heads/main'), commit)
    },
  )

  await step(
    t,
    workspace,
    'a push succeeds if its client pauses before the last chunk',
    async (t) => {
      const commit = await copy.commit('large-paused', incompressible(LARGE_BYTES))
      const trace = join(await temporaryFolder(t), 'trace')
      await promisify(execFile)('mkfifo', [trace])
      const reading = readSlowly(trace)
      const environment = { GIT_TRACE_CURL: trace }
      const { errorText } = await copy.try(['push', '--quiet', 'origin', 'main'], { environment })
      await reading
      t.equal(errorText, '')
      t.equal(await remoteRef(workspace, 'refs/heads/main'), commit)
    },
  )

  await step(t, workspace, 'a push with Expect: 100-continue succeeds', async (t) => {
    const commit = await copy.commit('large-3', incompressible(LARGE_BYTES))
    const expecting = ['-c', 'http.extraHeader=Expect: 100-continue']
    await copy.git(...expecting, 'push', '--quiet', 'origin', 'main')
    t.equal(await remoteRef(workspace, 'refs/heads/main'), commit)
  })
}

/** Returns a pack with a commit and its objects. */
async function packOf({ path }: WorkingCopy, commit: string): Promise<Buffer> {
  const { output } = await runToEnd('git', ['pack-objects', '--stdout', '--revs', '--quiet'], {
    cwd: path,
    environment: { PATH: process.env['PATH'] ?? '', HOME: '/dev/null' },
    input: `${commit}\n`,
    timeoutMs: 30_000,
    outputBytesMax: 64 << 20,
  })
  return output
}

async function craftedPushes(t: Test, workspace: Workspace): Promise<void> {
  const { ada, gatehouse } = workspace
  const repository = await makeRepository(ada, 'crafted')
  const source = await newWorkingCopy(t)
  const commit = await source.commit('file', incompressible(30_000))
  const pack = await packOf(source, commit)
  /** Returns the body of a git-receive-pack request that creates one ref. */
  const pushBody = (ref: string) => {
    const command = `${NULL_ID} ${commit} ${ref}\0 report-status`
    const length = (command.length + 4).toString(16).padStart(4, '0')
    return Buffer.concat([Buffer.from(`${length}${command}0000`), pack])
  }
  const path = `/${repository}.git/git-receive-pack`
  const headers = {
    ...basic('ada', ada.token),
    'content-type': 'application/x-git-receive-pack-request',
  }
  const refOf = async (ref: string) =>
    (await source.git('ls-remote', ada.remote(`${repository}.git`), ref)).split('\t')[0]

  await step(t, workspace, 'a compressed push is unpacked', async (t) => {
    const plain = pushBody('refs/heads/zipped')
    const zipped = { ...headers, 'content-encoding': 'gzip' }
    const body = gzipSync(plain)
    const answer = await askRaw(gatehouse.port, { method: 'POST', path, headers: zipped, body })
    t.equal(answer.status, 200)
    t.match(answer.body.toString(), /unpack ok\n.*ok refs\/heads\/zipped/)
    t.equal(await refOf('refs/heads/zipped'), commit)
    const parts = [body.subarray(0, 10_000), body.subarray(10_000)]
    const again = { method: 'POST', path, headers: zipped, body: parts }
    t.equal((await askRaw(gatehouse.port, again)).status, 200, 'a chunked body is unpacked as well')
  })

  await step(
    t,
    workspace,
    'a client that sends Expect: 100-continue gets 100 Continue',
    async (t) => {
      const file = join(await temporaryFolder(t), 'body')
      await writeFile(file, pushBody('refs/heads/curled'))
      const user = `${ada.name}:${ada.token}`
      const type = `Content-Type: ${headers['content-type']}`
      const { output, errorText } = await runToEnd(
        'curl',
        [
          '--silent',
          '--verbose',
          '--max-time',
          '20',
          '--expect100-timeout',
          '10',
          '--user',
          user,
          '--header',
          type,
          '--header',
          'Expect: 100-continue',
          '--data-binary',
          `@${file}`,
          `http://127.0.0.1:${gatehouse.port}${path}`,
        ],
        {
          environment: { PATH: process.env['PATH'] ?? '' },
          timeoutMs: 30_000,
          outputBytesMax: 1 << 20,
        },
      )
      t.match(output.toString(), /ok refs\/heads\/curled/)
      t.match(errorText, /< HTTP\/1\.1 100 Continue/)
      t.equal(await refOf('refs/heads/curled'), commit)
    },
  )

  await step(t, workspace, 'a push of an invalid ref name is refused', async (t) => {
    for (const ref of [
      'HEAD',
      'config',
      'objects/x',
      '../x',
      '/etc/x',
      'refs/../HEAD',
      'refs/heads/../../HEAD',
      'refs/heads/',
      'refs/heads/x.lock',
      'refs/heads/-x y',
      'refs/heads/x\n',
      'refs/tags',
      'refs/gatehouse/x',
      'refs/heads/.x',
      'refs/heads/x@{0}',
      'refs\\heads\\x',
    ]) {
      const body = pushBody(ref)
      const answer = await askRaw(gatehouse.port, { method: 'POST', path, headers, body })
      t.notMatch(answer.body.toString(), /^....ok /m, JSON.stringify(ref))
    }
    t.equal(await source.git('ls-remote', ada.remote(`${repository}.git`), '*x*'), '')
  })

  await step(t, workspace, 'a damaged or truncated pack updates no ref', async (t) => {
    const whole = pushBody('refs/heads/damaged')
    const damaged = Buffer.from(whole)
    damaged.writeUInt8(damaged.readUInt8(damaged.length - 5_000) ^ 0xff, damaged.length - 5_000)
    for (const body of [damaged, whole.subarray(0, -40), whole.subarray(0, 20)]) {
      const answer = await askRaw(gatehouse.port, { method: 'POST', path, headers, body })
      t.notMatch(answer.body.toString(), /ok refs\/heads\/damaged/)
    }
    t.equal(await refOf('refs/heads/damaged'), '')
  })

  await step(t, workspace, 'a body of another type or encoding is refused with 415', async (t) => {
    for (const wrong of [
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/x-git-upload-pack-request' },
      { 'content-encoding': 'br' },
      { 'content-encoding': 'gzip, gzip' },
    ]) {
      const request = { method: 'POST', path, headers: { ...headers, ...wrong }, body: '0000' }
      t.equal((await askRaw(gatehouse.port, request)).status, 415, JSON.stringify(wrong))
    }
  })
}
