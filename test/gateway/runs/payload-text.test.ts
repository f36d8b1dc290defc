/** Payloads of events as JSON: what is left out of those that are too long. */

import t from 'tap'
import { payloadText } from '../../../gateway/runs/payload-text.js'

t.test('a payload of at most 1 MiB is complete', async (t) => {
  const payload = { body: 'x'.repeat(1_000_000), list: Array.from({ length: 100 }, () => 'a') }
  t.strictSame(JSON.parse(payloadText(payload)), payload)
})

t.test('a longer payload lacks its long texts and the ends of its lists', async (t) => {
  const body = 'x'.repeat(1_048_576)
  const labels = Array.from({ length: 100 }, (_, at) => ({ name: `label ${at}`, body }))
  const text = payloadText({ action: 'opened', issue: { number: 1, body, labels } })
  t.strictSame(JSON.parse(text), {
    action: 'opened',
    issue: {
      number: 1,
      body: '',
      labels: labels.slice(0, 20).map(({ name }) => ({ name, body: '' })),
    },
  })
})
