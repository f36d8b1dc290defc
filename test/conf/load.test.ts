/** Settings are loaded from file and environment; every mistake is reported without the value. */

import { chdir, cwd } from 'node:process'
import t, { type Test } from 'tap'
import { loadSettings, podmanEnvironment, SettingsError } from '../../conf/load.js'

type Variables = Readonly<Record<string, string>>

/** Loads a file with this text, under these environment variables. */
function load(t: Test, text: string, variables: Variables = {}) {
  const folder = t.testdir({ 'gatehouse.toml': text })
  return loadSettings({ GATEHOUSE_CONFIG: `${folder}/gatehouse.toml`, ...variables })
}

/** Returns the error for settings that do not load. */
function reportOn(t: Test, text: string, variables: Variables = {}): SettingsError {
  try {
    load(t, text, variables)
  } catch (error) {
    if (error instanceof SettingsError) return error
    throw error
  }
  throw new Error('the configuration was taken')
}

t.test('the environment takes precedence over the file', async (t) => {
  const text = '[http]\nlisten = "0.0.0.0:80"\nworkers = 3\n[log]\nlevel = "warn"'
  const settings = load(t, text, { GATEHOUSE_HTTP_WORKERS: '5' })
  t.strictSame(settings.http.listen, [{ host: '0.0.0.0', port: 80 }])
  t.equal(settings.http.workers, 5)
  t.equal(settings.log.level, 'warn')
  t.equal(settings.git.timeoutMs, 7_200_000, 'a setting that is not set has its default')
})

t.test('gatehouse.toml of the working directory is read if no file is named', async (t) => {
  const before = cwd()
  t.teardown(() => chdir(before))
  chdir(t.testdir({ 'gatehouse.toml': '[ssh]\nuser = "code"' }))
  t.equal(loadSettings({}).ssh.user, 'code')
  chdir(t.testdir({}))
  t.equal(loadSettings({}).ssh.user, 'git', 'no file is needed')
})

t.test('a named file that is missing is an error', async (t) => {
  const path = `${t.testdir({})}/absent.toml`
  t.throws(() => loadSettings({ GATEHOUSE_CONFIG: path }), {
    message: /absent\.toml cannot be read: ENOENT/,
  })
})

t.test('every mistake is in one report, with its key or variable', async (t) => {
  const text = `
    [http]
    listen = "nowhere"
    workers = 0
    [database]
    url = "postgres://db/code"
    [git]
    timeout = 30
    colour = "red"
    [paint]
    colour = "red"`
  const report = reportOn(t, text, {
    GATEHOUSE_LOG_LEVEL: 'loud',
    GATEHOUSE_HTTP_WORKERS: 'many',
    GATEHOUSE_HTPP_LISTEN: '127.0.0.1:80',
  })
  t.strictSame(report.mistakes, [
    'GATEHOUSE_HTPP_LISTEN is not a known setting',
    'git.colour is not a known setting',
    'paint is not a known section',
    "http.listen must be an address such as '127.0.0.1:3000'",
    'GATEHOUSE_HTTP_WORKERS must be a whole number of at least 1',
    'database.url must be sqlite:PATH or mysql://user:password@host:port/name',
    "git.timeout must be a duration such as '30s', '5m' or '2h'",
    'GATEHOUSE_LOG_LEVEL must be one of debug, info, warn, error, silent',
  ])
  for (const mistake of report.mistakes) t.ok(report.message.includes(mistake))
})

t.test('a misspelt section or key is refused', async (t) => {
  const almost = [
    '[HTTP]\nlisten = "a:1"',
    '[http]\nLISTEN = "a:1"',
    '[http_base]\nurl = "http://a"',
  ]
  for (const text of [...almost, '[htttp]', 'http = "a:1"', 'http = []', 'http = 1979-05-27']) {
    t.equal(reportOn(t, text).mistakes.length, 1, text)
  }
  t.equal(reportOn(t, '', { gatehouse_http_listen: 'a:1', GATEHOUSE_: '' }).mistakes.length, 1)
})

t.test('variables of other programs are ignored', async (t) => {
  t.doesNotThrow(() => load(t, '', { PATH: '/bin', HTTP_LISTEN: 'x', MY_GATEHOUSE_KEY: 'x' }))
})

t.test('podman gets its own variables, and neither settings nor those of a linker', async (t) => {
  const own = {
    PATH: '/bin',
    XDG_RUNTIME_DIR: '/run/user/1',
    CONTAINERS_CONF: '/c',
    https_proxy: 'p',
  }
  const others = { GATEHOUSE_SECRET_KEY: 'x', LD_PRELOAD: 'x', MY_PATH: 'x', AWS_SECRET: 'x' }
  t.strictSame(podmanEnvironment({ ...own, ...others }), own)
})

t.test('a file that is not TOML is reported with its line and without its text', async (t) => {
  const { mistakes } = reportOn(t, '[http]\nworkers = 2\nlisten = "secret')
  t.match(mistakes, [/Invalid TOML.*\(line 3\)/])
  t.notMatch(mistakes.join(), /secret/)
})

t.test('__proto__ and similar keys in the file are only reported', async (t) => {
  const texts = ['[__proto__]\nlevel = "debug"', '[__proto__.log]\nlevel = "debug"']
  for (const text of [
    ...texts,
    '[constructor]',
    '[log]\n__proto__ = "x"',
    '[log]\ntoString = "x"',
  ]) {
    t.equal(reportOn(t, text).mistakes.length, 1, text)
  }
  t.equal(Object.hasOwn(Object.prototype, 'level'), false)
  t.equal(load(t, '').log.level, 'info')
})

t.test('a report contains no secret, wherever it was set and whatever is wrong', async (t) => {
  const secret = 'hunter2'
  const texts = [
    `[database]\nurl = "postgres://ada:${secret}@db/code"`,
    `[database]\nurl = "mysql://ada:${secret}@db"`,
    `[database]\nurl = "mysql://ada:${secret}@db/code" x`,
    `[database]\nurl = mysql://ada:${secret}@db/code`,
    `[database]\nurl = "mysql://ada:\\${secret}@db/code"`,
    `[metrics]\ntoken = "${secret}`,
    `[metrics]\ntoken = ${secret}`,
    `[metrics]\ntoken = ["${secret}"]`,
    `[metrics]\ntoken = "${secret}"\ntoken = "${secret}"`,
    `[http]\nupstream = "ftp://ada:${secret}@portal/"`,
  ]
  for (const text of texts) {
    const report = reportOn(t, text)
    t.notMatch(`${report.message} ${report.stack} ${JSON.stringify(report)}`, secret, text)
  }
  const report = reportOn(t, '', {
    GATEHOUSE_DATABASE_URL: `mysql:/ada:${secret}@db`,
    GATEHOUSE_METRICS_ALLOW: secret,
  })
  t.equal(report.mistakes.length, 2)
  t.notMatch(report.message, secret)
})
