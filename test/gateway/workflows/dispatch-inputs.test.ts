/** Inputs of `workflow_dispatch`: definitions, values of requests, and their types. */

import t from 'tap'
import { fillInputs, readInputs, typedInputs } from '../../../gateway/workflows/dispatch-inputs.js'
import { parseYaml } from '../../../gateway/workflows/yaml-value.js'

const inputsOf = (on: string) => readInputs(parseYaml(on), 'workflow_dispatch')

const INPUTS =
  inputsOf(`
workflow_dispatch:
  inputs:
    size: { description: How much, required: true, type: choice, options: [small, large] }
    debug: { type: boolean }
    count: { type: number, default: 3 }
    text: { default: hello }
    empty:
`) ?? []

t.test('a workflow can be started by hand if it has the event', async (t) => {
  t.strictSame(inputsOf('workflow_dispatch'), [])
  t.strictSame(inputsOf('[push, workflow_dispatch]'), [])
  t.strictSame(inputsOf('workflow_dispatch:'), [])
  t.strictSame(inputsOf('workflow_dispatch: { inputs: }'), [])
  t.equal(inputsOf('push'), undefined)
  t.equal(inputsOf('push:'), undefined)
  t.match(INPUTS[0], { name: 'size', description: 'How much', isRequired: true, type: 'choice' })
})

t.test('wrong definitions are faults with their place', async (t) => {
  const many = Array.from({ length: 26 }, (_, at) => `i${at}: {}`).join(', ')
  const faults = [
    ['workflow_dispatch: { inputs: { a: { type: date } } }', /has a type 'date'/],
    ['workflow_dispatch: { inputs: { a: { type: choice } } }', /has no 'options'/],
    [`workflow_dispatch: { inputs: { ${many} } }`, /has more than 25 inputs/],
    ['workflow_dispatch: { inputs: [a] }', /must be a map/],
  ] as const
  for (const [on, message] of faults) {
    t.throws(() => inputsOf(on), { message })
  }
})

t.test('values are completed with defaults, and have their types for expressions', async (t) => {
  const texts = fillInputs(INPUTS, { size: 'large', debug: 'true' })
  t.strictSame(texts, { size: 'large', debug: 'true', count: '3', text: 'hello', empty: '' })
  const typed = { size: 'large', debug: true, count: 3, text: 'hello', empty: '' }
  t.strictSame(typedInputs(INPUTS, texts), typed)
  t.match(typedInputs(INPUTS, fillInputs(INPUTS, { size: 'small' })), { debug: false })
})

t.test('values that are missing, unknown or wrong are refused by name', async (t) => {
  const refused = [
    [{}, "the input 'size' is required"],
    [{ size: '' }, "the input 'size' is required"],
    [{ size: 'huge' }, "the input 'size' must be one of: small, large"],
    [{ size: 'small', other: 'x' }, "the workflow has no input 'other'"],
    [{ size: 'small', debug: 'yes' }, "the input 'debug' must be 'true' or 'false'"],
    [{ size: 'small', count: 'many' }, "the input 'count' must be a number"],
    [{ size: 'small', text: 'x'.repeat(65_536) }, /has more than 65535 characters/],
  ] as const
  for (const [given, message] of refused) {
    t.throws(() => fillInputs(INPUTS, given), { message })
  }
})
