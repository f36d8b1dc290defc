/** Settings of an owner's packages: usage, immutability, protected versions and quotas. */

import type { JSX } from 'preact/jsx-runtime'
import { Failure, notFound } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import { PACKAGE_FORMATS } from '../../../conf/package.js'
import { findOwner, type Owner } from '../../../sql/accounts/owners.js'
import { type CleanupRule, listCleanupRules } from '../../../sql/packages/cleanup-rules.js'
import { setImmutable, setOwnQuota } from '../../../sql/packages/owner-settings.js'
import {
  listPackageProtections,
  type PackageProtection,
  removePackageProtection,
} from '../../../sql/packages/protections.js'
import { type PackageSettings, packageSettings } from '../../actions/packages/package-settings.js'
import {
  PATTERN_CHARACTERS_MAX,
  protectVersions,
  wantedFormat,
} from '../../actions/packages/retention.js'
import { roleIn } from '../../auth/authorize-accounts.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import type { Call } from '../../request/route.js'
import { ADMIN_ACCESS } from '../admin/admin-document.js'
import { sizeOf } from '../code/file-view.js'
import { Document } from '../kit/document.js'
import { htmlReply } from '../kit/html.js'
import { definePage, fieldOf, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { ErrorMessage } from '../kit/problem.js'
import { RemovalForm } from '../kit/removal-form.js'
import { TextField } from '../kit/text-field.js'
import { OwnerTabs } from '../repositories/owner-tabs.js'
import { keysOfFormats, SigningKeysSection } from './signing-keys-section.js'

/** Path of the page; its forms post to paths below it. */
export const PACKAGE_SETTINGS_PATH = '/{owner}/-/packages/settings'
export const OWN_PACKAGES = { kind: 'packages', mode: 'owner', isSignedIn: true } as const

/** Returns the path of the page of an owner. */
export function packageSettingsPath(owner: Pick<Owner, 'name'>): string {
  return `/${owner.name}/-/packages/settings`
}

interface Refused {
  readonly failure: Failure
  readonly form: URLSearchParams
}

async function answer(
  context: Context,
  { request, grant }: Pick<Call<'packages'>, 'request' | 'grant'>,
  refused?: Refused,
): Promise<Reply> {
  const { owner, user, who } = grant
  const role = await roleIn(context.db, who, owner)
  const settings = await packageSettings(context, owner)
  const rules = await listCleanupRules(context.db, owner.id)
  const protections = await listPackageProtections(context.db, { ownerId: owner.id })
  const keys = await keysOfFormats(context, owner.id)
  const address = context.settings.http.basePath + packageSettingsPath(owner)
  return htmlReply(
    request,
    <Document context={context} title={`Package settings · ${owner.name}`} user={user}>
      <OwnerTabs context={context} owner={owner} role={role} tab="packages" />
      <h2>Package settings</h2>
      <ErrorMessage error={refused?.failure.message} />
      <UsageSection settings={settings} />
      {user?.isAdmin && (
        <QuotaForm
          address={`${context.settings.http.basePath}/admin/packages/${owner.name}/quota`}
          own={settings.ownQuota}
        />
      )}
      <RulesSection address={address} rules={rules} />
      <ProtectionsSection address={address} protections={protections} refused={refused?.form} />
      <ImmutableForm address={address} isImmutable={settings.isImmutable} />
      <SigningKeysSection
        registriesUrl={`${context.settings.http.baseUrl}/api/packages/${owner.name}`}
        keys={keys}
      />
    </Document>,
    { status: refused?.failure.status ?? 200 },
  )
}

function UsageSection({ settings: { usage, quota, lfs } }: { readonly settings: PackageSettings }) {
  const { versionsMax, bytesMax } = quota
  return (
    <section>
      <h3>Usage</h3>
      <p>{`Versions: ${usage.versions}${versionsMax === undefined ? '' : ` of ${versionsMax}`}`}</p>
      <p>
        {`Size of all files: ${sizeOf(usage.bytes)}`}
        {bytesMax !== undefined && ` of ${sizeOf(bytesMax)}`}
      </p>
      <p>
        {`Size of the LFS objects of all repositories: ${sizeOf(lfs.bytes)}`}
        {lfs.bytesMax !== undefined && ` of ${sizeOf(lfs.bytesMax)}`}
      </p>
    </section>
  )
}

interface QuotaFormProps {
  readonly address: string
  readonly own: PackageSettings['ownQuota']
}

function QuotaForm({ address, own }: QuotaFormProps): JSX.Element {
  const textOf = (own: number | null) => (own === null ? '' : String(own))
  return (
    <form class="form" method="post" action={address}>
      <h3>Quotas</h3>
      <p class="quiet">An empty field is the quota of the configuration, and -1 is no limit.</p>
      <TextField
        label="Versions"
        name="versions_max"
        value={textOf(own.versionsMax)}
        charactersMax={QUOTA_DIGITS_MAX}
      />
      <TextField
        label="Bytes of all files"
        name="size_max"
        value={textOf(own.bytesMax)}
        charactersMax={QUOTA_DIGITS_MAX}
      />
      <TextField
        label="Bytes of LFS objects"
        name="lfs_size_max"
        value={textOf(own.lfsBytesMax)}
        charactersMax={QUOTA_DIGITS_MAX}
      />
      <button type="submit">Save quotas</button>
    </form>
  )
}

interface RulesProps {
  readonly address: string
  readonly rules: readonly CleanupRule[]
}

function RulesSection({ address, rules }: RulesProps): JSX.Element {
  const states = new Map(rules.map(({ format, isEnabled }) => [format, isEnabled]))
  return (
    <section>
      <h3>Cleanup rules</h3>
      <p class="quiet">
        An enabled rule removes old versions of the packages of its type once a day.
      </p>
      <ul class="list">
        {PACKAGE_FORMATS.map((format) => (
          <li>
            <a class="grow" href={`${address}/rules/${format}`}>
              {format}
            </a>
            <span class="quiet">{stateOf(states.get(format))}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function stateOf(isEnabled: boolean | undefined): string {
  if (isEnabled === undefined) return 'no rule'
  return isEnabled ? 'enabled' : 'disabled'
}

interface ProtectionsProps {
  readonly address: string
  readonly protections: readonly PackageProtection[]
  /** Form that was refused, to show it again. */
  readonly refused: URLSearchParams | undefined
}

function ProtectionsSection({ address, protections, refused }: ProtectionsProps): JSX.Element {
  const chosen = refused && fieldOf(refused, 'type')
  return (
    <section>
      <h3>Protected versions</h3>
      <p class="quiet">
        Versions whose name/version matches a pattern are deleted neither by rules nor by hand.
      </p>
      <ul class="list">
        {protections.map(({ id, format, pattern }) => (
          <li>
            <code class="grow">
              <Shown text={pattern} />
            </code>
            <span class="label">{format}</span>
            <RemovalForm
              address={`${address}/protections/delete`}
              id={id}
              label={`Remove the pattern ${pattern}`}
            />
          </li>
        ))}
      </ul>
      <form class="form" method="post" action={`${address}/protections`}>
        <label for="type">Type</label>
        <select id="type" name="type">
          {PACKAGE_FORMATS.map((format) => (
            <option value={format} selected={format === chosen}>
              {format}
            </option>
          ))}
        </select>
        <TextField
          label="Pattern (regular expression for name/version)"
          name="pattern"
          value={refused === undefined ? '' : fieldOf(refused, 'pattern')}
          charactersMax={PATTERN_CHARACTERS_MAX}
          isRequired={true}
        />
        <button type="submit">Protect</button>
      </form>
    </section>
  )
}

interface ImmutableFormProps {
  readonly address: string
  readonly isImmutable: boolean
}

function ImmutableForm({ address, isImmutable }: ImmutableFormProps): JSX.Element {
  return (
    <form class="form" method="post" action={address}>
      <h3>Immutability</h3>
      <label class="choice">
        <input type="checkbox" name="immutable" checked={isImmutable} /> Files that are deleted from
        now on can be published again with the same bytes only
      </label>
      <button type="submit">Save</button>
    </form>
  )
}

const show = definePage<'packages'>({
  method: 'GET',
  path: PACKAGE_SETTINGS_PATH,
  access: OWN_PACKAGES,
  handle: (context, call) => answer(context, call),
})

const save = definePage<'packages'>({
  method: 'POST',
  path: PACKAGE_SETTINGS_PATH,
  access: OWN_PACKAGES,
  async handle(context, { request, grant: { owner } }) {
    await setImmutable(context.db, owner.id, (await readForm(request)).has('immutable'))
    return redirectTo(context, packageSettingsPath(owner))
  },
})

const protect = definePage<'packages'>({
  method: 'POST',
  path: `${PACKAGE_SETTINGS_PATH}/protections`,
  access: OWN_PACKAGES,
  async handle(context, call) {
    const { owner } = call.grant
    const form = await readForm(call.request)
    const add = async () => {
      const format = wantedFormat(fieldOf(form, 'type'))
      await protectVersions(context, owner, { format, pattern: fieldOf(form, 'pattern') })
      return redirectTo(context, packageSettingsPath(owner))
    }
    return withFormErrors(add, (failure) => answer(context, call, { failure, form }))
  },
})

const unprotect = definePage<'packages'>({
  method: 'POST',
  path: `${PACKAGE_SETTINGS_PATH}/protections/delete`,
  access: OWN_PACKAGES,
  async handle(context, { request, grant: { owner } }) {
    const id = Number(fieldOf(await readForm(request), 'id'))
    await removePackageProtection(context.db, owner.id, id)
    return redirectTo(context, packageSettingsPath(owner))
  },
})

const setQuota = definePage<'admin'>({
  method: 'POST',
  path: '/admin/packages/{owner}/quota',
  access: ADMIN_ACCESS,
  async handle(context, { request, params }) {
    const owner = await findOwner(context.db, params['owner'] ?? '')
    if (owner === undefined) throw notFound()
    const form = await readForm(request)
    await setOwnQuota(context.db, owner.id, {
      versionsMax: quotaIn(form, 'versions_max'),
      bytesMax: quotaIn(form, 'size_max'),
      lfsBytesMax: quotaIn(form, 'lfs_size_max'),
    })
    return redirectTo(context, packageSettingsPath(owner))
  },
})

const QUOTA_DIGITS_MAX = 15

/** Returns a quota of the form; null if the field is empty. Throws `invalid`. */
function quotaIn(form: URLSearchParams, name: string): number | null {
  const text = fieldOf(form, name)
  if (text === '') return null
  if (/^(?:-1|\d+)$/.test(text) && text.length <= QUOTA_DIGITS_MAX) return Number(text)
  const shown = JSON.stringify(text.slice(0, 30))
  throw new Failure('invalid', `The quota ${shown} is neither a whole number nor -1 for no limit.`)
}

export const PACKAGE_SETTINGS_PAGES = [show, save, protect, unprotect, setQuota]
