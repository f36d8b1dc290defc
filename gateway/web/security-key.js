/**
 * Browser script of the security key form. The form carries the WebAuthn options; the script shows
 * the form, passes the options to the key, and submits the form with the key's response.
 */

const form = document.querySelector('form[data-ceremony]')
const options = JSON.parse(form.dataset.options)

const bytesOf = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
    character.charCodeAt(0),
  )

const textOf = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const credentialsOf = (list) => list.map(({ id, type }) => ({ id: bytesOf(id), type }))

/** Registers a key; returns the RegistrationResponseJSON of WebAuthn. */
async function create() {
  const publicKey = {
    ...options,
    challenge: bytesOf(options.challenge),
    user: { ...options.user, id: bytesOf(options.user.id) },
    excludeCredentials: credentialsOf(options.excludeCredentials),
  }
  const credential = await navigator.credentials.create({ publicKey })
  const { clientDataJSON, attestationObject } = credential.response
  return answerOf(credential, { clientDataJSON, attestationObject })
}

/** Authenticates with a key; returns the AuthenticationResponseJSON of WebAuthn. */
async function get() {
  const publicKey = {
    ...options,
    challenge: bytesOf(options.challenge),
    allowCredentials: credentialsOf(options.allowCredentials),
  }
  const credential = await navigator.credentials.get({ publicKey })
  const { clientDataJSON, authenticatorData, signature } = credential.response
  return answerOf(credential, { clientDataJSON, authenticatorData, signature })
}

function answerOf({ rawId, type }, buffers) {
  const id = textOf(rawId)
  const response = Object.fromEntries(
    Object.entries(buffers).map(([name, buffer]) => [name, textOf(buffer)]),
  )
  return JSON.stringify({ id, rawId: id, type, clientExtensionResults: {}, response })
}

function reasonOf({ name, message }) {
  if (name === 'InvalidStateError') return 'This key is already registered with your account.'
  if (name === 'NotAllowedError') return 'No security key responded. Try again.'
  return message
}

const problem = form.querySelector('[role=alert]')

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  problem.textContent = ''
  try {
    if (navigator.credentials === undefined) throw new Error('Security keys require HTTPS.')
    form.elements.answer.value = await (form.dataset.ceremony === 'create' ? create() : get())
    form.submit()
  } catch (error) {
    problem.textContent = reasonOf(error)
  }
})
form.hidden = false
if (form.dataset.ceremony === 'create') form.querySelector('button').focus()
