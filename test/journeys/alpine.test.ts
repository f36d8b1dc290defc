/** Alpine packages: uploads, and a client that verifies indexes as apk does. */

import { type Test, t } from 'tap'
import { curl, newApkClient } from '../helpers/apk-client.js'
import { apk, type PackageLines } from '../helpers/apks.js'
import {
  onPackageGatehouse,
  type PackageGatehouse,
  putPackage,
} from '../helpers/package-gatehouses.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'

/** Returns the URL of an owner's packages, optionally with credentials in it. */
function baseOf({ url }: PackageGatehouse, owner: string, credentials = ''): string {
  return `${url.replace('//', `//${credentials}`)}/api/packages/${owner}/alpine`
}

interface Sending {
  readonly fixture: PackageGatehouse
  /** Branch and repository, such as `v3.20/main`. */
  readonly place: string
  readonly owner?: string
}

async function publish(
  t: Test,
  { fixture, place, owner = 'ada' }: Sending,
  ...packages: readonly PackageLines[]
) {
  for (const lines of packages) {
    const url = `${baseOf(fixture, owner)}/${place}`
    t.equal(await putPackage(fixture.ada, url, apk(lines)), '201')
  }
}

const namesOf = (all: ReadonlyArray<{ pkgname: string; version: string; arch: string }>) =>
  all.map(({ pkgname, version, arch }) => `${pkgname}-${version} ${arch}`).sort()

await onPackageGatehouse(
  t,
  'MariaDB and S3',
  'apk installs packages after it trusts the key',
  async (t, fixture) => {
    const sending = { fixture, place: 'v3.20/main' }
    const repository = `${baseOf(fixture, 'ada')}/v3.20/main`
    const machine = await newApkClient(t, { repository, arch: 'x86_64' })
    await t.rejects(machine.update(), /404/, 'there is no index before the first package')
    await publish(t, sending, { pkgname: 'hello', depend: 'libhello' }, { pkgname: 'libhello' })
    await t.rejects(machine.update(), /UNTRUSTED/, 'the key is not trusted yet')
    await machine.trust(`${baseOf(fixture, 'ada')}/key`)
    t.strictSame(namesOf(await machine.update()), ['hello-1.0-r0 x86_64', 'libhello-1.0-r0 x86_64'])
    t.equal(await machine.fetch('hello'), 'hello-1.0-r0.apk')

    const versions = ['1.10-r0', '1.9-r2', '1.10_rc1-r0', '1.10-r1']
    await publish(t, sending, ...versions.map((pkgver) => ({ pkgname: 'hello', pkgver })))
    await machine.update()
    t.equal(await machine.fetch('hello'), 'hello-1.10-r1.apk', 'the newest version')
    t.equal(await machine.fetch('hello=1.9-r2'), 'hello-1.9-r2.apk', 'the requested version')
    await publish(t, sending, { pkgname: 'hello2', provides: 'cmd:greet=1' })
    await machine.update()
    t.equal(await machine.fetch('cmd:greet'), 'hello2-1.0-r0.apk', 'found by a provided command')

    const { exitCode } = await curl(
      await temporaryFolder(t),
      '--user',
      `ada:${fixture.ada.token}`,
      '--request',
      'DELETE',
      `${repository}/x86_64/hello-1.10-r1.apk`,
    )
    t.equal(exitCode, 0)
    await machine.update()
    t.equal(await machine.fetch('hello'), 'hello-1.10-r0.apk', 'the newest remaining version')
  },
)

await onPackageGatehouse(
  t,
  'MariaDB and S3',
  'each architecture lists its own packages and those without architecture',
  async (t, fixture) => {
    const lines = ['x86_64', 'aarch64'].map((arch) => ({ pkgname: 'tool', arch }))
    await publish(t, { fixture, place: 'edge/main' }, { pkgname: 'docs', arch: 'noarch' }, ...lines)
    await publish(t, { fixture, place: 'edge/extra' }, { pkgname: 'extra', arch: 'noarch' })
    const wanted = {
      'main x86_64': ['docs-1.0-r0 x86_64', 'tool-1.0-r0 x86_64'],
      'main aarch64': ['docs-1.0-r0 aarch64', 'tool-1.0-r0 aarch64'],
      'main riscv64': ['docs-1.0-r0 riscv64'],
      'extra x86_64': ['extra-1.0-r0 x86_64'],
    }
    for (const [where, names] of Object.entries(wanted)) {
      const [repository = '', arch = ''] = where.split(' ')
      const base = baseOf(fixture, 'ada')
      const machine = await newApkClient(t, { repository: `${base}/edge/${repository}`, arch })
      await machine.trust(`${base}/key`)
      t.strictSame(namesOf(await machine.update()), names, where)
      const [name = ''] = names.at(-1)?.split('-') ?? []
      t.equal(await machine.fetch(name), `${name}-1.0-r0.apk`, where)
    }
  },
)

await onPackageGatehouse(
  t,
  'MariaDB and S3',
  'the packages of a private owner need credentials',
  async (t, fixture) => {
    const { ada } = fixture
    const made = await ada.api('POST', '/orgs', { username: 'Guild', visibility: 'private' })
    t.equal(made.status, 201)
    await publish(t, { fixture, owner: 'guild', place: 'v1/main' }, { pkgname: 'secret' })
    const machineOf = (base: string) =>
      newApkClient(t, { repository: `${base}/v1/main`, arch: 'x86_64' })
    for (const credentials of [`ada:${ada.token}@`, `${ada.token}:@`]) {
      const base = baseOf(fixture, 'guild', credentials)
      const machine = await machineOf(base)
      await machine.trust(`${base}/key`)
      t.strictSame(namesOf(await machine.update()), ['secret-1.0-r0 x86_64'])
      t.equal(await machine.fetch('secret'), 'secret-1.0-r0.apk')
    }
    for (const credentials of ['', 'ada:wrong@']) {
      const machine = await machineOf(baseOf(fixture, 'guild', credentials))
      await t.rejects(machine.update(), /401/, credentials)
      await t.rejects(machine.trust(`${baseOf(fixture, 'guild', credentials)}/key`), /401/)
    }
    const otherKey = await machineOf(baseOf(fixture, 'guild', `ada:${ada.token}@`))
    await publish(t, { fixture, place: 'v1/main' }, { pkgname: 'open' })
    await otherKey.trust(`${baseOf(fixture, 'ada')}/key`)
    await t.rejects(otherKey.update(), /UNTRUSTED/, 'the key of another owner is not accepted')
  },
)

// threats/index-under-fire publishes concurrently on both databases.
await onPackageGatehouse(
  t,
  'MariaDB and S3',
  'an index is consistent during concurrent publications',
  async (t, fixture) => {
    const base = baseOf(fixture, 'ada')
    const place = `${base}/busy/main`
    const machine = await newApkClient(t, { repository: place, arch: 'x86_64' })
    const versions = Array.from({ length: isFullSize ? 12 : 6 }, (_, at) => `1.${at}-r0`)
    await publish(t, { fixture, place: 'busy/main' }, { pkgname: 'first' })
    await machine.trust(`${base}/key`)
    const authorization = `token ${fixture.ada.token}`
    const sending = versions.map(async (pkgver) => {
      const body = new Uint8Array(apk({ pkgname: 'busy', pkgver }))
      const sent = await fetch(place, { method: 'PUT', headers: { authorization }, body })
      t.equal(sent.status, 201)
      return pkgver
    })
    const done = Promise.all(sending)
    for (let round = 0; round < 2; round += 1) t.ok((await machine.update()).length > 0)
    await done
    t.equal(
      (await machine.update()).length,
      versions.length + 1,
      'all acknowledged packages are listed',
    )
  },
)
