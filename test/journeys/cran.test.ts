/** People who work with R keep their packages here: sent by curl, installed by R itself. */

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { t as root, type Test, t } from 'tap'
import { runToEnd } from '../../cgi/run.js'
import { forEachPackageHouse, type PackageHouse } from '../helpers/package-houses.js'
import { buildRPackage, newRClient, type RClient } from '../helpers/r-client.js'
import { rTarGz, rZip } from '../helpers/r-packages.js'
import { temporaryFolder } from '../helpers/temporary.js'

interface Sent {
  readonly archive: Buffer
  readonly owner?: string
  /** Below `/cran`; by default where sources go. */
  readonly to?: string
}

/** Publishes with curl and returns the status, and what was said with it. */
async function publish(t: Test, house: PackageHouse, sent: Sent): Promise<string> {
  const { archive, owner = 'ada', to = '/src' } = sent
  const folder = await temporaryFolder(t)
  const file = join(folder, 'package')
  await writeFile(file, archive)
  const url = `${house.url}/api/packages/${owner}/cran${to}`
  const { name, token } = house.ada
  const words = ['--silent', '--write-out', '%{http_code}', '--user', `${name}:${token}`]
  const { output } = await runToEnd('curl', [...words, '--upload-file', file, url], {
    environment: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', HOME: folder },
    timeoutMs: 60_000,
    outputBytesMax: 1 << 20,
  })
  return output.toString()
}

/** Sources by `R CMD build`: `ghtop` needs what `ghbase` has since 1.2. */
async function buildAll(): Promise<Readonly<Record<string, Buffer>>> {
  const client = await newRClient(root)
  const about = (name: string, version: string, more: string) =>
    `Package: ${name}\nVersion: ${version}\nTitle: Toy\nDescription: A toy.\nLicense: GPL-3\n` +
    `Author: Ada\nMaintainer: Ada <ada@example.test>\n${more}`
  const built: Record<string, Buffer> = {}
  for (const version of ['1.2', '1.9', '1.10']) {
    built[`ghbase ${version}`] = await buildRPackage(client, 'ghbase', {
      DESCRIPTION: about('ghbase', version, 'Depends: R (>= 3.5)\n'),
      NAMESPACE: 'export(answer)\n',
      'R/answer.R': `answer <- function() "${version}"\n`,
    })
  }
  built['ghtop 0.1-1'] = await buildRPackage(client, 'ghtop', {
    DESCRIPTION: about('ghtop', '0.1-1', 'Imports: utils,\n    ghbase (>= 1.2)\n'),
    NAMESPACE: 'importFrom(ghbase, answer)\nexport(shout)\n',
    'R/shout.R': 'shout <- function() paste0(answer(), "!")\n',
  })
  return built
}

const building = buildAll()

async function built(name: string): Promise<Buffer> {
  const archive = (await building)[name]
  if (archive === undefined) throw new Error(`no package ${name}`)
  return archive
}

/** What is in the library of the client: R itself ends well where it has installed nothing. */
async function installed({ folder }: RClient): Promise<readonly string[]> {
  return (await readdir(join(folder, 'library'))).sort()
}

await forEachPackageHouse(t, 'a package is installed with what it imports', async (t, house) => {
  for (const name of ['ghtop 0.1-1', 'ghbase 1.2']) {
    t.equal(await publish(t, house, { archive: await built(name) }), '201', name)
  }
  const client = await newRClient(t)
  const repos = `repos = '${house.url}/api/packages/ada/cran'`
  const install = await client.run(`install.packages('ghtop', ${repos})`)
  t.match(install, { exitCode: 0 }, install.errorText)
  t.strictSame(await installed(client), ['ghbase', 'ghtop'])
  t.equal((await client.run('cat(ghtop::shout())')).output, '1.2!')

  for (const version of ['1.10', '1.9']) {
    t.equal(await publish(t, house, { archive: await built(`ghbase ${version}`) }), '201', version)
  }
  const old = await client.run(`cat(old.packages(${repos})[, c('Installed', 'ReposVer')])`)
  t.equal(old.output, '1.2 1.10')
  const update = await client.run(`update.packages(${repos}, ask = FALSE)`)
  t.match(update, { exitCode: 0 }, update.errorText)
  t.equal((await client.run('cat(ghtop::shout())')).output, '1.10!')

  const archived = `${house.url}/api/packages/ada/cran/src/contrib/Archive/ghbase/ghbase_1.9.tar.gz`
  const older = await client.run(`install.packages('${archived}', repos = NULL, type = 'source')`)
  t.match(older, { exitCode: 0 }, older.errorText)
  t.equal((await client.run('cat(ghtop::shout())')).output, '1.9!', 'by its name')

  const download = `download.packages('ghbase', '.', ${repos})`
  t.match(await client.run(download), { exitCode: 0 })
  const bytes = await readFile(join(client.folder, 'ghbase_1.10.tar.gz'))
  t.ok(bytes.equals(await built('ghbase 1.10')), 'the bytes are those of the upload')
})

/** Where R on each system looks, and what it calls that. */
const BINARIES = [
  { type: 'win.binary', platform: 'windows', suffix: 'zip' },
  { type: 'mac.binary', platform: 'macosx', suffix: 'tgz' },
  { type: 'mac.binary.big-sur-arm64', platform: 'macosx/big-sur-arm64', suffix: 'tgz' },
] as const

await forEachPackageHouse(t, 'members alone have what a private owner has', async (t, house) => {
  const owner = 'guild'
  const made = await house.ada.api('POST', '/orgs', { username: owner, visibility: 'private' })
  t.equal(made.status, 201)
  const archive = await built('ghbase 1.2')
  t.equal(await publish(t, house, { owner, archive }), '201')
  const client = await newRClient(t)
  const { output: rversion } = await client.run(`
    cat(R.version$major, strsplit(R.version$minor, '.', fixed = TRUE)[[1]][1], sep = '.')`)
  const plain = `${house.url}/api/packages/${owner}/cran`
  const as = (name: string, secret: string) =>
    `repos = '${plain.replace('//', `//${name}:${encodeURIComponent(secret)}@`)}'`
  const own = as(house.ada.name, house.ada.token)
  const show = `db <- available.packages(%, filters = list())
    cat(db[, c('Package', 'Version', 'Archs', 'MD5sum')])`

  for (const { type, platform, suffix } of BINARIES) {
    const fields = { Package: 'ghbinary', Version: `2.${suffix.length}`, Archs: platform }
    const archive = suffix === 'zip' ? rZip(fields) : rTarGz(fields)
    const to = `/bin?platform=${platform}&rversion=${rversion}`
    t.equal(await publish(t, house, { owner, archive, to }), '201', platform)
    const listed = await client.run(show.replace('%', `${own}, type = '${type}'`))
    t.match(listed.output, `ghbinary 2.3 ${platform} `, listed.errorText)
    const question = `'ghbinary', '.', ${own}, type = '${type}', filters = list()`
    const download = await client.run(`cat(download.packages(${question})[, 2])`)
    t.equal(download.output, `./ghbinary_2.3.${suffix}`, download.errorText)
    t.ok((await readFile(join(client.folder, download.output))).equals(archive), 'as it was sent')
  }

  const bob = await house.addUser(`bob${house.port}`)
  const refused = {
    nobody: `repos = '${plain}'`,
    'a wrong password': as('ada', 'wrong'),
    'a stranger': as(bob.name, bob.token),
  }
  for (const [who, repos] of Object.entries(refused)) {
    const { exitCode, errorText } = await client.run(`install.packages('ghbase', ${repos})`)
    t.not(exitCode, 0, who)
    t.match(errorText, /unable to access index for repository/, who)
    t.strictSame(await installed(client), [], who)
    const url = `${repos.slice(9, -1)}/src/contrib/ghbase_1.2.tar.gz`
    // Else it would stop at its first warning, which is of the length.
    const direct = await client.run(`options(warn = 1); download.file('${url}', 'x')`)
    t.not(direct.exitCode, 0, who)
    t.match(direct.errorText, who === 'a stranger' ? /404 Not Found/ : /401 Unauthorized/, who)
  }
  const install = await client.run(`install.packages('ghbase', ${own})`)
  t.match(install, { exitCode: 0 }, install.errorText)
  t.strictSame(await installed(client), ['ghbase'])
})
