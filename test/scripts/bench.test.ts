/** The benchmark command refuses unknown benchmarks and invalid sizes. */

import { fileURLToPath } from 'node:url'
import t from 'tap'
import { runToEnd } from '../../cgi/process/run.js'

const BENCH = fileURLToPath(new URL('../../scripts/bench.js', import.meta.url))

for (const word of ['everything', 'http=100', 'index=', 'index=0', 'index=100,x']) {
  t.test(`bench ${word} lists the benchmarks`, async (t) => {
    const { exitCode, output, errorText } = await runToEnd(process.execPath, [BENCH, word], {
      environment: {},
      timeoutMs: 30_000,
      outputBytesMax: 65_536,
    })
    t.equal(exitCode, 2)
    t.equal(output.toString(), '')
    t.match(errorText, `There is no benchmark '${word}'. Benchmarks:\n  http `)
    t.match(errorText, /\n {2}index .*\(index=100,5000,50000\)\n/)
  })
}
