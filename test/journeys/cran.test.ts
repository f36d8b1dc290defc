/** R packages: uploads, and installations with R itself. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { t as root, type Test, t } from 'tap'
import {
  onPackageGatehouse,
  type PackageGatehouse,
  putPackage,
} from '../helpers/package-gatehouses.js'
import { buildRPackage, newRClient, type RClient } from '../helpers/r-client.js'
import { rTarGz, rZip } from '../helpers/r-packages.js'

interface Sent {
  readonly archive: Buffer
  readonly owner?: string
  /** Path below `/cran`; by default the path of source packages. */
  readonly to?: string
}

/** Publishes an archive; returns the body of the reply followed by its status. */
async function publish({ ada, url }: PackageGatehouse, sent: Sent): Promise<string> {
  const { archive, owner = 'ada', to = '/src' } = sent
  return await putPackage(ada, `${url}/api/packages/${owner}/cran${to}`, archive)
}

/** Builds source packages, one with `R CMD build`: `ghtop` depends on `ghbase` 1.2 or later. */
async function buildAll(): Promise<Readonly<Record<string, Buffer>>> {
  const client = await newRClient(root)
  const about = (name: string, version: string, more: string) =>
    `Package: ${name}\nVersion: ${version}\nTitle: Toy\nDescription: A toy.\nLicense: GPL-3\n` +
    `Author: Ada\nMaintainer: Ada <ada@example.test>\n${more}`
  const built: Record<string, Buffer> = {}
  for (const version of ['1.2', '1.9', '1.10']) {
    const description = about('ghbase', version, 'Depends: R (>= 3.5)\n')
    const files = {
      NAMESPACE: 'export(answer)\n',
      'R/answer.R': `answer <- function() "${version}"\n`,
    }
    // R installs archives that it has not built as well.
    built[`ghbase ${version}`] = rTarGz(description, { folder: 'ghbase', files })
  }
  built['ghtop 0.1-1'] = await buildRPackage(client, 'ghtop', {
    DESCRIPTION: about('ghtop', '0.1-1', 'Imports: utils,\n    ghbase (>= 1.2)\n'),
    NAMESPACE: 'importFrom(ghbase, answer)\nexport(shout)\n',
    'README.md': '# Shouting\n\nSee [the manual](man/shout.Rd).\n',
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

/** Lists the client's library, because R exits with 0 even if an installation failed. */
async function installed({ folder }: RClient): Promise<readonly string[]> {
  return (await readdir(join(folder, 'library'))).sort()
}

// These steps of an installation do not depend on the repository and take long.
const QUICK = `INSTALL_opts = c('--no-byte-compile', '--no-test-load', '--no-docs', '--no-html')`

await onPackageGatehouse(
  t,
  'MariaDB and S3',
  'a package is installed with its imports, and updated',
  async (t, fixture) => {
    for (const name of ['ghtop 0.1-1', 'ghbase 1.2']) {
      t.equal(await publish(fixture, { archive: await built(name) }), '201', name)
    }
    const page = await fetch(`${fixture.url}/ada/-/packages/cran/ghtop/0.1-1`)
    t.match(await page.text(), /<h4>Shouting<\/h4>\s*<p>See <span>the manual<\/span>/)
    const client = await newRClient(t)
    const repos = `repos = '${fixture.url}/api/packages/ada/cran'`
    const install = await client.run(`
      install.packages('ghtop', ${repos}, ${QUICK})
      cat('installed', ghtop::shout())`)
    t.match(install, { exitCode: 0 }, install.errorText)
    t.match(install.output, /installed 1\.2!$/)
    t.strictSame(await installed(client), ['ghbase', 'ghtop'])

    for (const version of ['1.10', '1.9']) {
      const archive = await built(`ghbase ${version}`)
      t.equal(await publish(fixture, { archive }), '201', version)
    }
    const update = await client.run(`
      cat('old', old.packages(${repos})[, c('Installed', 'ReposVer')], '')
      update.packages(${repos}, ask = FALSE, ${QUICK})
      cat('updated', ghtop::shout(), '')
      cat(download.packages('ghbase', '.', ${repos})[, 2])`)
    t.match(update, { exitCode: 0 }, update.errorText)
    t.match(update.output, /^old 1\.2 1\.10 /)
    t.match(update.output, /updated 1\.10! \.\/ghbase_1\.10\.tar\.gz$/)
    const bytes = await readFile(join(client.folder, 'ghbase_1.10.tar.gz'))
    t.ok(bytes.equals(await built('ghbase 1.10')), 'the downloaded bytes equal the upload')

    const versions = await client.run(`
      for (version in c('1.2', '1.10')) {
        file.copy(remotes::download_version('ghbase', version, ${repos}), version)
      }
      install <- function(version) remotes::install_version('ghbase', version, upgrade = 'never',
        quiet = TRUE, ${repos}, ${QUICK})
      install('>= 1.2, < 1.10')
      cat(tryCatch(install('1.3'), error = conditionMessage), '')
      cat('installed', ghtop::shout())`)
    t.match(versions, { exitCode: 0 }, versions.errorText)
    t.match(versions.output, /^version '1\.3' is invalid for package 'ghbase' /)
    t.match(versions.output, /installed 1\.9!$/, 'an older version')
    for (const version of ['1.2', '1.10']) {
      const downloaded = await readFile(join(client.folder, version))
      t.ok(downloaded.equals(await built(`ghbase ${version}`)), version)
    }
  },
)

/** Binary package types of R, with the platform's path and file suffix. */
const BINARIES = [
  { type: 'win.binary', platform: 'windows', suffix: 'zip' },
  { type: 'mac.binary', platform: 'macosx', suffix: 'tgz' },
  { type: 'mac.binary.big-sur-arm64', platform: 'macosx/big-sur-arm64', suffix: 'tgz' },
] as const

type AsUser = (name: string, secret: string) => string

await onPackageGatehouse(
  t,
  'MariaDB and S3',
  'the packages of a private owner are available only to its members',
  async (t, fixture) => {
    const owner = 'guild'
    const made = await fixture.ada.api('POST', '/orgs', { username: owner, visibility: 'private' })
    t.equal(made.status, 201)
    const archive = await built('ghbase 1.2')
    t.equal(await publish(fixture, { owner, archive }), '201')
    const client = await newRClient(t)
    const plain = `${fixture.url}/api/packages/${owner}/cran`
    const as: AsUser = (name, secret) =>
      plain.replace('//', `//${name}:${encodeURIComponent(secret)}@`)
    const own = as(fixture.ada.name, fixture.ada.token)
    await binaries(t, { fixture, owner, client, own })

    const bob = await fixture.addUser(`bob${fixture.port}`)
    await refusals(t, client, {
      'no credentials': plain,
      'a wrong password': as('ada', 'wrong'),
      'a user who is no member': as(bob.name, bob.token),
    })
    t.strictSame(await installed(client), [], 'nothing is installed without permission')
  },
)

interface BinariesOf {
  readonly fixture: PackageGatehouse
  readonly owner: string
  readonly client: RClient
  /** URL of the repository with a member's credentials. */
  readonly own: string
}

/** Publishes a binary package for each system; R lists and downloads them and `ghbase`. */
async function binaries(t: Test, { fixture, owner, client, own }: BinariesOf): Promise<void> {
  const rversion = await client.version()
  const archives = BINARIES.map(({ platform, suffix }) => {
    const fields = { Package: 'ghbinary', Version: `2.${suffix.length}`, Archs: platform }
    return suffix === 'zip' ? rZip(fields) : rTarGz(fields)
  })
  for (const [at, { platform }] of BINARIES.entries()) {
    const to = `/bin?platform=${platform}&rversion=${rversion}`
    const archive = archives[at] ?? Buffer.alloc(0)
    t.equal(await publish(fixture, { owner, archive, to }), '201', platform)
  }
  const { output, errorText } = await client.run(
    BINARIES.map(({ type }, at) => {
      const from = `repos = '${own}', type = '${type}', filters = list()`
      return `
        db <- available.packages(${from})
        cat(db[, c('Package', 'Version', 'Archs')], '')
        dir.create('${at}')
        cat(download.packages('ghbinary', '${at}', ${from})[, 2], '\\n')`
    })
      .concat(`cat(download.packages('ghbase', '.', repos = '${own}')[, 2])`)
      .join('\n'),
  )
  const lines = output.split('\n').map((line) => line.trim())
  for (const [at, { platform, suffix }] of BINARIES.entries()) {
    const file = `${at}/ghbinary_2.3.${suffix}`
    t.equal(lines[at], `ghbinary 2.3 ${platform} ${file}`, errorText)
    const bytes = await readFile(join(client.folder, file))
    t.ok(bytes.equals(archives[at] ?? Buffer.alloc(0)), `${platform}: the bytes equal the upload`)
  }
  t.equal(lines[BINARIES.length], './ghbase_1.2.tar.gz', errorText)
}

/** Installs and downloads `ghbase` with R from URLs whose credentials are refused. */
async function refusals(
  t: Test,
  client: RClient,
  addresses: Readonly<Record<string, string>>,
): Promise<void> {
  const { exitCode, output, errorText } = await client.run(
    Object.values(addresses)
      .map(
        (repos) => `
        said <- function(error) cat(conditionMessage(error), '')
        tryCatch(install.packages('ghbase', repos = '${repos}'), error = said)
        # With warn = 2, the first warning, which is about the length, would be the error.
        options(warn = 1)
        url <- '${repos}/src/contrib/ghbase_1.2.tar.gz'
        tryCatch(
          withCallingHandlers(download.file(url, 'x', quiet = TRUE), warning = said),
          error = said)
        options(warn = 2)
        cat('\\f')`,
      )
      .join('\n'),
  )
  t.equal(exitCode, 0, errorText)
  const answers = output.split('\f')
  for (const [at, who] of Object.keys(addresses).entries()) {
    t.match(answers[at], /unable to access index for repository/, who)
    t.match(answers[at], /cannot open URL/, who)
    const status = who === 'a user who is no member' ? /404 Not Found/ : /401 Unauthorized/
    t.match(answers[at], status, who)
  }
}
