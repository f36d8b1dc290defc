/** CGI variables of git-http-backend are a fixed list. */

import t from 'tap'
import type { Git } from '../../../cgi/process/git.js'
import { type BackendRequest, backendEnvironment } from '../../../cgi/transfer/environment.js'

const GIT: Git = {
  file: '/usr/bin/git',
  execPath: '/usr/lib/git-core',
  version: [2, 39, 5],
  backend: '/usr/lib/git-core/git-http-backend',
  configFile: '/opt/gatehouse/conf/git.config',
  prlimit: undefined,
  memoryBytesMax: 0,
}

const FETCH: BackendRequest = {
  repositoryPath: '/data/repositories/ab/abcd.git',
  method: 'POST',
  suffix: 'git-upload-pack',
  service: 'git-upload-pack',
  gzip: false,
  remoteAddress: '192.0.2.7',
  config: [],
}

const ALWAYS = [
  'GATEWAY_INTERFACE',
  'GIT_CONFIG_COUNT',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_HTTP_EXPORT_ALL',
  'GIT_PROJECT_ROOT',
  'GIT_TERMINAL_PROMPT',
  'HOME',
  'LC_ALL',
  'PATH',
  'PATH_INFO',
  'QUERY_STRING',
  'REMOTE_ADDR',
  'REQUEST_METHOD',
  'SERVER_PROTOCOL',
]

function environmentOf(change: Partial<BackendRequest>): Record<string, string> {
  return backendEnvironment(GIT, { ...FETCH, ...change })
}

t.test('a plain request gives a fixed list of variables, derived from our own path', async (t) => {
  const environment = environmentOf({})
  t.same(Object.keys(environment).sort(), ALWAYS)
  t.match(environment, {
    GIT_PROJECT_ROOT: '/data/repositories/ab',
    PATH_INFO: '/abcd.git/git-upload-pack',
    QUERY_STRING: '',
    REQUEST_METHOD: 'POST',
    GIT_CONFIG_SYSTEM: '/opt/gatehouse/conf/git.config',
  })
})

t.test(
  'httpoxy and variables smuggled as headers: only known fields become variables',
  async (t) => {
    const headers = {
      proxy: 'http://evil:1/',
      HTTP_PROXY: 'http://evil:1/',
      'remote-user': 'admin',
      remote_user: 'admin',
      'git-project-root': '/',
      GIT_PROJECT_ROOT: '/',
      content_encoding: 'gzip',
      'auth-type': 'Basic',
      LD_PRELOAD: '/tmp/x.so',
    }
    const environment = environmentOf(headers as Partial<BackendRequest>)
    t.same(Object.keys(environment).sort(), ALWAYS)
    t.equal(environment.GIT_PROJECT_ROOT, '/data/repositories/ab')
  },
)

t.test("the query string is set only for the advertisement and is not the client's", async (t) => {
  const advertise = { suffix: 'info/refs', service: 'git-receive-pack', method: 'GET' } as const
  t.equal(environmentOf(advertise).QUERY_STRING, 'service=git-receive-pack')
})

t.test('content type, encoding, account and settings become variables', async (t) => {
  const contentType = 'application/x-git-upload-pack-request'
  const environment = environmentOf({
    contentType,
    gzip: true,
    remoteUser: 'ada',
    config: [['receive.maxInputSize', '5']],
  })
  t.match(environment, {
    CONTENT_TYPE: contentType,
    HTTP_CONTENT_ENCODING: 'gzip',
    REMOTE_USER: 'ada',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'receive.maxInputSize',
    GIT_CONFIG_VALUE_0: '5',
  })
})

t.test('a content type of another service or with a parameter is not passed on', async (t) => {
  for (const contentType of [
    'text/plain',
    'application/x-git-upload-pack-request; charset=x',
    'application/x-git-upload-pack-request\n',
  ]) {
    t.notOk('CONTENT_TYPE' in environmentOf({ contentType }), contentType)
  }
})

t.test('Git-Protocol is passed if it is well-formed and dropped otherwise', async (t) => {
  for (const gitProtocol of ['version=0', 'version=1', 'version=2', 'version=2:x=1:y.z-2']) {
    t.equal(environmentOf({ gitProtocol }).GIT_PROTOCOL, gitProtocol)
  }
  for (const gitProtocol of [
    '',
    'version=3',
    'version=2\0x',
    'version=2\n',
    'version=2\nHTTP_PROXY=x',
    'version=2:',
    'version=2:X',
    'version=2 ',
    ' version=2',
    'x:version=2',
    `version=2:${'a'.repeat(247)}`,
  ]) {
    t.notOk('GIT_PROTOCOL' in environmentOf({ gitProtocol }), JSON.stringify(gitProtocol))
  }
})
