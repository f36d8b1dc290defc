/** Log lines on standard error: JSON or text, and complete even if the process ends immediately. */

import { spawn, spawnSync } from 'node:child_process'
import t from 'tap'

const LOG_MODULE = new URL('../../conf/log.js', import.meta.url).href

function programOf(level: string, body: string, format = 'json'): string {
  const options = JSON.stringify({ level, format })
  return `import { createLog } from '${LOG_MODULE}'; const log = createLog(${options}); ${body}`
}

/** Runs a process that logs with `body` and ends, and returns its output. */
function logged(level: string, body: string) {
  const child = run(programOf(level, `${body}; process.exit(0)`))
  const lines = child.stderr.split('\n').slice(0, -1)
  return { ...child, lines: lines.map((line) => JSON.parse(line)) }
}

function run(program: string) {
  return spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
}

t.test('a line has its level by name, the time, the process id and its fields', async (t) => {
  const { stdout, lines, pid } = logged('info', "log.warn({ owner: 'ada' }, 'late')")
  t.equal(stdout, '', 'standard output is reserved for the output of commands')
  t.match(lines, [{ level: 'warn', pid, owner: 'ada', msg: 'late' }])
  t.equal(new Date(lines[0].time).toISOString(), lines[0].time)
})

t.test('a JSON line has the bytes that the fail2ban filter expects', async (t) => {
  for (const format of ['json', 'auto']) {
    const program = programOf('info', "log.warn({ event: 'e', pid: 7 }, 'm')", format)
    const { stderr, pid } = run(program)
    const time = /"time":"([^"]+)"/.exec(stderr)?.[1]
    t.equal(
      stderr,
      `{"level":"warn","time":"${time}","pid":${pid},"event":"e","pid":7,"msg":"m"}\n`,
      format,
    )
  }
})

t.test('a text line has no process id and, without a terminal, no colour', async (t) => {
  const body = "log.info({ n: 1 }, 'one'); log.warn({ pid: 7 }, 'two')"
  const { stdout, stderr } = run(programOf('info', body, 'text'))
  t.equal(stdout, '')
  t.match(stderr, /^\d\d:\d\d:\d\d info {2}one {2}n=1\n\d\d:\d\d:\d\d warn {2}two {2}pid=7\n$/)
})

t.test('flush calls back when all earlier lines are written', async (t) => {
  for (const format of ['json', 'text']) {
    const body = "log.info('first'); log.flush(() => writeSync(2, 'second')); log.flush(() => {})"
    const { stderr } = run(
      `import { writeSync } from 'node:fs'; ${programOf('info', body, format)}`,
    )
    t.match(stderr, /first.*\nsecond$/, format)
  }
  const { stderr } = run(programOf('info', "log.flush(() => log.info('nothing waits'))"))
  t.match(stderr, /nothing waits/)
})

t.test('no line is lost if the process ends immediately after it', async (t) => {
  const { lines } = logged('info', 'for (let n = 0; n < 2000; n++) log.info({ n }, "busy")')
  t.equal(lines.length, 2000)
  t.equal(lines.at(-1).n, 1999)
})

t.test("no line at the end is lost if the log's pipe is full for a while", async (t) => {
  // Makes standard error a non-blocking pipe.
  const body = "process.stderr; for (let n = 0; n < 8_000; n++) log.info({ n }, 'busy')"
  t.equal(logged('info', body).lines.length, 8_000)
})

t.test('the last line is written when the event loop is empty', async (t) => {
  for (let time = 0; time < 5; time += 1) {
    t.match(run(programOf('info', "log.info('last')")).stderr, /last/)
  }
})

t.test('lines are written while the process runs, whatever their number', async (t) => {
  const body = `
    let n = 0
    const write = (count) => { for (let i = 0; i < count; i++) log.info({ n: n++ }, 'busy') }
    for (const count of [1, 2000, 1]) { write(count); await new Promise((r) => setImmediate(r)) }
    setInterval(() => {}, 1_000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', programOf('info', body)])
  t.teardown(() => child.kill('SIGKILL'))
  let text = ''
  for await (const chunk of child.stderr) {
    text += chunk
    if (text.endsWith('\n') && text.split('\n').length > 2_002) break
  }
  const numbers = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).n)
  t.strictSame(numbers, [...Array(2_002).keys()])
})

t.test('lines below the level are not written, and level silent writes none', async (t) => {
  const body = "log.debug('d'); log.info('i'); log.error('e')"
  t.strictSame(
    logged('error', body).lines.map((line) => line.msg),
    ['e'],
  )
  t.equal(logged('silent', body).lines.length, 0)
  t.equal(logged('debug', body).lines.length, 3)
})

t.test('an error shows its type, message, stack and cause', async (t) => {
  const { lines } = logged(
    'info',
    "log.error({ error: new TypeError('outer', { cause: new Error('inner') }) }, 'failed')",
  )
  t.match(lines[0].error, {
    type: 'TypeError',
    message: 'outer',
    stack: /outer/,
    cause: { message: 'inner' },
  })
})
