/** Rotation of signing keys with running clients: apt, and a client that verifies as apk does. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { newApkClient } from '../helpers/apk-client.js'
import { apk, readIndex } from '../helpers/apks.js'
import { newAptRoot } from '../helpers/apt-client.js'
import { controlOf, debOf } from '../helpers/debs.js'
import { onPackageGatehouse, type PackageGatehouse } from '../helpers/package-gatehouses.js'
import { temporaryFolder } from '../helpers/temporary.js'

async function upload(t: Test, fixture: PackageGatehouse, path: string, bytes: Uint8Array) {
  const authorization = `token ${fixture.ada.token}`
  const body = new Uint8Array(bytes)
  const sent = await fetch(`${fixture.url}/api/packages/ada/${path}`, {
    method: 'PUT',
    headers: { authorization },
    body,
  })
  t.equal(sent.status, 201, path)
}

async function download(fixture: PackageGatehouse, path: string): Promise<Buffer> {
  const answer = await fetch(`${fixture.url}/api/packages/ada/${path}`)
  return Buffer.from(await answer.arrayBuffer())
}

/** Runs `gatehouse package …` with the running server; checks that the output has no key. */
async function run(t: Test, fixture: PackageGatehouse, ...args: readonly string[]) {
  const { exitCode, output, errorText } = await fixture.run('package', ...args)
  t.equal(exitCode, 0, errorText)
  t.notMatch(`${output}${errorText}`, /PRIVATE|v1:/)
  return output
}

async function keysOf(fixture: PackageGatehouse) {
  return {
    asc: await download(fixture, 'debian/repository.key'),
    gpg: await download(fixture, 'debian/repository.gpg'),
  }
}

/** Creates roots for apt by name, each with its own copy of a key. */
async function machinesOf(
  t: Test,
  fixture: PackageGatehouse,
  keys: Readonly<Record<string, Buffer>>,
) {
  const sources = [`deb [signed-by=KEY] ${fixture.url}/api/packages/ada/debian bookworm main`]
  const roots = Object.entries(keys).map(
    async ([name, key]) => [name, await newAptRoot(t, { sources, key })] as const,
  )
  return Object.fromEntries(await Promise.all(roots))
}

type Machines = Awaited<ReturnType<typeof machinesOf>>

async function update(t: Test, machines: Machines, ...names: readonly string[]) {
  for (const name of names) {
    const { exitCode, output } = (await machines[name]?.get('update')) ?? {}
    t.equal(exitCode, 0, `${name}\n${output}`)
    t.notMatch(output, /^[WE]:/m, `${name} prints no warning or error`)
  }
}

/** Copies the current indexes to a folder, as an outdated mirror; returns its path. */
async function aMirror(t: Test, fixture: PackageGatehouse): Promise<string> {
  const folder = await temporaryFolder(t)
  const lists = 'dists/bookworm/main/binary-amd64'
  await mkdir(join(folder, lists), { recursive: true })
  for (const path of ['dists/bookworm/InRelease', `${lists}/Packages.gz`]) {
    await writeFile(join(folder, path), await download(fixture, `debian/${path}`))
  }
  return folder
}

/** Checks that apt refuses the index with a warning and keeps its previous one. */
async function isRefused(t: Test, machines: Machines, ...names: readonly string[]) {
  for (const name of names) {
    const { output = '' } = (await machines[name]?.get('update')) ?? {}
    t.match(output, /^W: .* NO_PUBKEY [0-9A-F]{16}/m, `${name} is refused`)
    t.match(output, /^W: .*\/dists\/bookworm\/InRelease/m)
  }
}

await onPackageGatehouse(
  t,
  'SQLite and files',
  'apt accepts indexes with the old key, the new key or both during a rotation',
  async (t, fixture) => {
    const send = async (Version: string) => {
      const deb = debOf({ control: controlOf({ Package: 'tool', Version }) })
      await upload(t, fixture, 'debian/pool/bookworm/main/upload', deb)
    }
    const isSeen = async (machines: Machines, name: string, version: string) => {
      const policy = (await machines[name]?.cache('policy', 'tool'))?.output
      t.match(policy, `Candidate: ${version}\n`, name)
    }
    await send('1')
    const old = await keysOf(fixture)
    const mirror = await aMirror(t, fixture)
    const before = await machinesOf(t, fixture, { 'old.asc': old.asc })
    await update(t, before, 'old.asc')

    const lines = (await run(t, fixture, 'rotate-key', 'ada', 'debian')).trim().split('\n')
    t.match(lines, [/\tsigns$/, /\tsigns until /])
    const both = await keysOf(fixture)
    t.ok(both.gpg.subarray(-old.gpg.length).equals(old.gpg), 'the old key is last in the file')
    const during = await machinesOf(t, fixture, {
      'both.asc': both.asc,
      'both.gpg': both.gpg,
      'new.gpg': both.gpg.subarray(0, -old.gpg.length),
    })
    const all = { ...before, ...during }
    const sources = [`deb [signed-by=KEY] file:${mirror} bookworm main`]
    const late = { late: await newAptRoot(t, { sources, key: both.asc }) }
    await update(t, late, 'late')
    await isSeen(late, 'late', '1')
    // Without a new package, the index is rebuilt because the keys changed.
    await update(t, all, 'new.gpg')
    await send('2')
    await update(t, all, ...Object.keys(all))
    for (const name of ['old.asc', 'new.gpg']) await isSeen(all, name, '2')

    const retired = await run(t, fixture, 'retire-key', 'ada', 'debian')
    t.equal(retired, 'retired 1 keys of ada for debian\n')
    await isRefused(t, all, 'old.asc')
    await update(t, all, 'both.asc', 'new.gpg')
    await send('3')
    await isSeen(all, 'old.asc', '2')
    await update(t, all, 'both.gpg')
    await isSeen(all, 'both.gpg', '3')
  },
)

await onPackageGatehouse(
  t,
  'SQLite and files',
  'apk accepts indexes with either key during a rotation',
  async (t, fixture) => {
    await upload(t, fixture, 'alpine/v1/main', apk({ pkgname: 'hello' }))
    const base = `${fixture.url}/api/packages/ada/alpine`
    const machine = async () => {
      const client = await newApkClient(t, { repository: `${base}/v1/main`, arch: 'x86_64' })
      await client.trust(`${base}/key`)
      return client
    }
    const oldKey = (await download(fixture, 'alpine/key')).toString()
    const oldMachine = await machine()
    await oldMachine.update()
    await run(t, fixture, 'rotate-key', 'ada', 'alpine')
    const newMachine = await machine()
    const newKey = (await download(fixture, 'alpine/key')).toString()
    t.not(newKey, oldKey)
    for (const each of [oldMachine, newMachine]) t.equal((await each.update()).length, 1)

    const index = () => download(fixture, 'alpine/v1/main/x86_64/APKINDEX.tar.gz')
    const during = await readIndex(t, await index())
    const [newName = '', oldName = '', ...more] = during.signatureNames
    t.strictSame(more, [])
    t.match([newName, oldName], [/^\.SIGN\.RSA\.ada-[0-9a-f]{16}\.rsa\.pub$/, /^\.SIGN\.RSA\.ada-/])
    t.not(newName, oldName)
    t.ok(await during.isSignedBy(newKey, newName), 'openssl verifies the signature of the new key')
    t.ok(await during.isSignedBy(oldKey, oldName))

    await run(t, fixture, 'retire-key', 'ada', 'alpine')
    t.equal((await newMachine.update()).length, 1)
    await t.rejects(oldMachine.update(), /UNTRUSTED/)
    t.strictSame((await readIndex(t, await index())).signatureNames, [newName])
  },
)
