/** Options of containers: those that are known, and attempts on the machine. */

import t from 'tap'
import { parseContainerOptions, splitWords } from '../../../gateway/own-runner/container-options.js'

t.test('words are split as in a shell', (t) => {
  for (const [text, words] of [
    ['', []],
    ['  --cpus 1\n\t--init ', ['--cpus', '1', '--init']],
    [`--health-cmd "pg_isready -U 'a b'"`, ['--health-cmd', "pg_isready -U 'a b'"]],
    [`a'b c'"d e"f ''`, ['ab cd ef', '']],
    [String.raw`a\ b "c\"d" 'e\f'`, ['a b', 'c"d', String.raw`e\f`]],
  ] as const) {
    t.strictSame(splitWords(text), words, text)
  }
  t.throws(() => splitWords(`--health-cmd "a`), /have a quote " without end/)
  t.end()
})

t.test('options become arguments, each of which is one word', (t) => {
  for (const [text, args] of [
    ['--cpus 1.5 --memory=512m -m 1g', ['--cpus=1.5', '--memory=512m', '--memory=1g']],
    [
      '--health-cmd "redis-cli ping" --health-interval 1m30s --health-retries=5',
      ['--health-cmd=redis-cli ping', '--health-interval=1m30s', '--health-retries=5'],
    ],
    ['--health-cmd --privileged', ['--health-cmd=--privileged']],
    ['--init -h db-1 -u 999:999', ['--init', '--hostname=db-1', '--user=999:999']],
    [
      '--tmpfs /data:rw,size=64m --ulimit nofile=1024:2048',
      ['--tmpfs=/data:rw,size=64m', '--ulimit=nofile=1024:2048'],
    ],
    [
      '--entrypoint "" --no-healthcheck'.replace('""', 'run'),
      ['--entrypoint=run', '--no-healthcheck'],
    ],
  ] as const) {
    t.strictSame(parseContainerOptions(text, 'service'), args, text)
  }
  t.end()
})

t.test('options that reach the machine, and malformed values, are refused by name', (t) => {
  for (const name of [
    '--privileged',
    '--volume',
    '-v',
    '--mount',
    '--cap-add',
    '--device',
    '--pid',
    '--ipc',
    '--userns',
    '--network',
    '--net',
    '--security-opt',
    '--label',
    '--env-file',
    '-e',
    '--publish',
    '--name',
    '--entrypoin',
    '--',
    '-',
    'debian',
    '__proto__',
    'constructor',
  ]) {
    for (const text of [`${name} value`, `${name}=value`]) {
      const refused = new RegExp(`^the option '${name}(?:=value)?' of a container is not permitted`)
      t.throws(() => parseContainerOptions(text, 'service'), refused, text)
    }
  }
  for (const [text, name] of [
    ['--cpus', '--cpus'],
    ['--cpus --privileged', '--cpus'],
    ['--memory=-1', '--memory'],
    ['--hostname -x', '--hostname'],
    ['--user 0:0:0', '--user'],
    ['--tmpfs /x:/etc', '--tmpfs'],
    ['--tmpfs /x:bind', '--tmpfs'],
    ['--ulimit host', '--ulimit'],
    ['--init=false', '--init'],
    ['--health-interval 1000000000000s', '--health-interval'],
  ] as const) {
    const refused = new RegExp(`^the option '${name}' of a container has the malformed value`)
    t.throws(() => parseContainerOptions(text, 'service'), refused, text)
  }
  t.end()
})

t.test('the container of a job has no options on which its steps rely', (t) => {
  const args = ['--cpus=2', '--init']
  t.strictSame(parseContainerOptions('--cpus 2 --user 0:0 -u root --init', 'job'), args)
  for (const text of [
    '--user 1',
    '--no-healthcheck',
    '--entrypoint x',
    '--workdir /x',
    '--health-cmd x',
  ]) {
    t.throws(() => parseContainerOptions(text, 'job'), /is for services, not for the container/)
  }
  t.end()
})
