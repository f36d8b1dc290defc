/** Administration, Settings: the configuration without secrets, and the registration switch. */

import type { JSX } from 'preact/jsx-runtime'
import type { Field } from '../../../conf/field.js'
import { SCHEMAS } from '../../../conf/schemas.js'
import { isRegistrationOpen, setRegistration } from '../../../sql/admin/site.js'
import { htmlReply } from '../kit/html.js'
import { definePage, readForm, redirectTo } from '../kit/page.js'
import { ADMIN_ACCESS, AdminDocument } from './admin-document.js'
import { shownSettings } from './shown-settings.js'

const PATH = '/admin/settings'

interface RegistrationProps {
  readonly address: string
  readonly isOpen: boolean
}

function Registration({ address, isOpen }: RegistrationProps): JSX.Element {
  return (
    <section>
      <h2>Registration</h2>
      <p>
        {isOpen
          ? 'Registration is on: visitors can create accounts.'
          : 'Registration is off: only administrators can create accounts.'}
      </p>
      <form method="post" action={`${address}/registration`}>
        <input type="hidden" name="registration" value={isOpen ? 'off' : 'on'} />
        <button type="submit">{`Switch registration ${isOpen ? 'off' : 'on'}`}</button>
      </form>
    </section>
  )
}

type ShownSection = ReturnType<typeof shownSettings>[number]

function Section({ section, values }: ShownSection): JSX.Element {
  const fields: Readonly<Record<string, Field<unknown>>> = SCHEMAS[section as keyof typeof SCHEMAS]
  return (
    <section>
      <h3>{section}</h3>
      <table class="figures settings">
        <caption class="unseen">{`Settings of ${section}`}</caption>
        <thead class="unseen">
          <tr>
            <th scope="col">Setting</th>
            <th scope="col">Value</th>
            <th scope="col">Meaning</th>
          </tr>
        </thead>
        <tbody>
          {values.map(({ key, value }) => (
            <tr>
              <th scope="row">
                <code>{`${section}.${key}`}</code>
              </th>
              <td>{value === '' ? <span class="quiet">not set</span> : <code>{value}</code>}</td>
              <td>{fields[key]?.about}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const show = definePage<'admin'>({
  method: 'GET',
  path: PATH,
  access: ADMIN_ACCESS,
  async handle(context, { request, grant: { user } }) {
    const { settings, db } = context
    const isOpen = await isRegistrationOpen(db)
    return htmlReply(
      request,
      <AdminDocument context={context} user={user} tab="settings">
        <Registration address={settings.http.basePath + PATH} isOpen={isOpen} />
        <section>
          <h2>Configuration</h2>
          <p class="quiet">
            Settings as read from gatehouse.toml and the environment. Passwords and keys are not
            shown.
          </p>
          {shownSettings(settings).map((each) => (
            <Section {...each} />
          ))}
        </section>
      </AdminDocument>,
    )
  },
})

const switchRegistration = definePage<'admin'>({
  method: 'POST',
  path: `${PATH}/registration`,
  access: ADMIN_ACCESS,
  async handle(context, { request, grant: { user } }) {
    const isOpen = (await readForm(request)).get('registration') === 'on'
    await setRegistration(context.db, isOpen)
    context.log.warn({ event: 'registration', admin: user.name, isOpen }, 'registration switched')
    return redirectTo(context, PATH)
  },
})

export const ADMIN_SETTINGS_PAGES = [show, switchRegistration]
