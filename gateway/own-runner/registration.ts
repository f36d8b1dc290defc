/** Registration of a runner at a server, and the file with its credentials. */

import { open, readFile, rm } from 'node:fs/promises'
import { PING, REGISTER } from '../runner-protocol/procedures.js'
import { type Credentials, createServerClient } from './server-client.js'

/** Contents of the file of a runner. */
export interface Registration extends Credentials {
  readonly instance: string
  readonly name: string
  readonly labels: readonly string[]
}

/** Input of a registration. */
export interface RegistrationInput {
  readonly instance: string
  readonly registrationToken: string
  readonly name: string
  readonly labels: readonly string[]
  readonly version: string
}

/**
 * Registers a runner and writes its file. The file is created first, so that a registered runner
 * is never without one. Throws ConnectError, or the error of the file, such as EEXIST.
 */
export async function registerRunner(
  path: string,
  input: RegistrationInput,
): Promise<Registration> {
  const file = await open(path, 'wx', 0o600)
  try {
    const registration = await register(input)
    await file.writeFile(`${JSON.stringify(registration, null, 2)}\n`)
    await file.sync()
    return registration
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

async function register(input: RegistrationInput): Promise<Registration> {
  const { instance, name, version } = input
  const labels = [...input.labels]
  const client = createServerClient(instance)
  await client.call(PING, { data: name })
  const request = { name, token: input.registrationToken, version, labels, agentLabels: labels }
  const { runner } = await client.call(REGISTER, request)
  const { uuid = '', token = '' } = runner ?? {}
  if (uuid === '' || token === '') throw new Error('the server returned no runner')
  return { uuid, token, instance, name: runner?.name || name, labels }
}

/** Reads the file of a runner. Throws an Error whose message has no final full stop. */
export async function readRegistration(path: string): Promise<Registration> {
  const text = await readFile(path, 'utf8')
  const fields = JSON.parse(text) as Partial<Registration>
  const { uuid, token, instance, name, labels } = fields
  const texts = [uuid, token, instance, name]
  if (texts.some((value) => typeof value !== 'string') || !Array.isArray(labels)) {
    throw new Error('uuid, token, instance, name or labels is missing')
  }
  return fields as Registration
}
