/** Registration and declaration of runners. */

import { Failure } from '../../conf/failures.js'
import { type Runner, registerRunner, updateRunner } from '../../sql/runners/runners.js'
import { hashToken, newToken } from '../auth/token.js'
import { DECLARE, PING, REGISTER } from '../runner-protocol/procedures.js'
import { procedureRoute } from './procedure-route.js'

const MESSAGE_BYTES_MAX = 65_536
const NAME_BYTES_MAX = 255
const LABELS_MAX = 100
const LABEL_CHARACTERS_MAX = 255

/** Header with what runners of Gitea may use: they send summaries of steps. */
const CAPABILITIES = ['X-Gitea-Actions-Capabilities', 'job-summary'] as const

const ping = procedureRoute(PING, {
  access: 'open',
  bytesMax: MESSAGE_BYTES_MAX,
  handle: (_context, { message }) => ({ data: `Hello, ${message.data}!` }),
})

const register = procedureRoute(REGISTER, {
  access: 'open',
  bytesMax: MESSAGE_BYTES_MAX,
  async handle({ db, log }, { message, request }) {
    const { name, token, version, ephemeral } = message
    if (name === '') throw new Failure('bad_request', 'The name of the runner is empty.')
    if (token === '') throw new Failure('bad_request', 'The registration token is empty.')
    const labels = message.labels.length > 0 ? message.labels : message.agentLabels
    const runnerToken = newToken()
    const runner = await registerRunner(db, {
      registrationHash: hashToken(token),
      name: cutBytes(name),
      tokenHash: hashToken(runnerToken),
      labels: checkLabels(labels),
      version: cutBytes(version),
      isEphemeral: ephemeral,
    })
    if (runner === undefined) {
      throw new Failure('bad_credentials', 'The registration token is wrong or has expired.')
    }
    log.info(
      { runner: runner.uuid, name: runner.name, address: request.address },
      'a runner was registered',
    )
    return { runner: { ...messageOf(runner), token: runnerToken } }
  },
})

const declare = procedureRoute(DECLARE, {
  access: 'runner',
  bytesMax: MESSAGE_BYTES_MAX,
  headers: [CAPABILITIES],
  async handle({ db }, { message, grant: { runner } }) {
    const declared = { labels: checkLabels(message.labels), version: cutBytes(message.version) }
    await updateRunner(db, runner.id, declared)
    return { runner: messageOf({ ...runner, ...declared }) }
  },
})

function messageOf({ id, uuid, name, version, labels, isEphemeral }: Runner) {
  return { id: BigInt(id), uuid, name, version, labels: [...labels], ephemeral: isEphemeral }
}

function checkLabels(labels: readonly string[]): readonly string[] {
  if (labels.length > LABELS_MAX) {
    throw new Failure('bad_request', `A runner has at most ${LABELS_MAX} labels.`)
  }
  const long = labels.find((label) => label.length > LABEL_CHARACTERS_MAX)
  if (long !== undefined) {
    throw new Failure('bad_request', `A label has at most ${LABEL_CHARACTERS_MAX} characters.`)
  }
  return labels
}

/** Cuts a text to the bytes that a column holds, between two characters. */
function cutBytes(text: string): string {
  let bytes = 0
  let cut = ''
  for (const character of text) {
    bytes += Buffer.byteLength(character)
    if (bytes > NAME_BYTES_MAX) break
    cut += character
  }
  return cut
}

export const REGISTRATION_ROUTES = [ping, register, declare]
