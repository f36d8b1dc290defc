/** Form of a webhook. Secrets can be set but are never shown. */

import type { Child, JSX } from 'preact/jsx-runtime'
import { HOOK_EVENTS, parseHookEvents, wordOf } from '../../../conf/hook-events.js'
import type { WebhookFields } from '../../../sql/webhooks/webhooks.js'
import {
  BRANCH_FILTER_CHARACTERS_MAX,
  HOOK_TEXT_CHARACTERS_MAX,
  NEW_WEBHOOK,
  type WebhookInput,
} from '../../actions/webhooks/webhook-input.js'
import { fieldOf } from '../kit/page.js'

/** Fields of the form for a new webhook. */
export const FIRST_FIELDS: WebhookFields = { ...NEW_WEBHOOK, events: ['push'], isActive: true }

/** Reads the form. An empty secret is left unchanged unless its removal is checked. */
export function readHookForm(form: URLSearchParams): WebhookInput {
  const secretOf = (name: string) =>
    form.has(`forget_${name}`) ? '' : fieldOf(form, name) || undefined
  return {
    url: fieldOf(form, 'url'),
    contentType: fieldOf(form, 'content_type'),
    secret: secretOf('secret'),
    authorization: secretOf('authorization'),
    events: form.getAll('event'),
    branchFilter: fieldOf(form, 'branch_filter'),
    isActive: form.has('active'),
  }
}

/** Returns the fields as sent, without secrets, to show the form again. */
export function sentFields(before: WebhookFields, form: URLSearchParams): WebhookFields {
  return {
    ...before,
    url: fieldOf(form, 'url'),
    contentType: fieldOf(form, 'content_type') === 'form' ? 'form' : 'json',
    events: parseHookEvents(form.getAll('event')),
    branchFilter: fieldOf(form, 'branch_filter'),
    isActive: form.has('active'),
  }
}

export interface HookFormProps {
  /** URL that the form is sent to. */
  readonly address: string
  readonly fields: WebhookFields
  readonly button: string
  /** Further fields, above the others. */
  readonly children?: Child
}

export function HookForm({ address, fields, button, children }: HookFormProps): JSX.Element {
  const { url, contentType, branchFilter, isActive } = fields
  return (
    <form class="form" method="post" action={address}>
      {children}
      <label for="url">URL</label>
      <input
        type="text"
        id="url"
        name="url"
        value={url}
        required={true}
        maxlength={HOOK_TEXT_CHARACTERS_MAX}
      />
      <label for="content_type">Content type</label>
      <select id="content_type" name="content_type">
        <option value="json" selected={contentType === 'json'}>
          application/json
        </option>
        <option value="form" selected={contentType === 'form'}>
          application/x-www-form-urlencoded
        </option>
      </select>
      <SecretField name="secret" word="Secret, for signatures" isSet={!!fields.secretSealed} />
      <SecretField
        name="authorization"
        word="Authorization header"
        isSet={!!fields.authorizationSealed}
      />
      <label for="branch_filter">Branch pattern (empty: all)</label>
      <input
        type="text"
        id="branch_filter"
        name="branch_filter"
        value={branchFilter}
        maxlength={BRANCH_FILTER_CHARACTERS_MAX}
      />
      <Events chosen={fields.events} />
      <label class="choice">
        <input type="checkbox" name="active" checked={isActive} /> Active: events are delivered
      </label>
      <button type="submit">{button}</button>
    </form>
  )
}

interface SecretFieldProps {
  readonly name: 'secret' | 'authorization'
  readonly word: string
  readonly isSet: boolean
}

function SecretField({ name, word, isSet }: SecretFieldProps): JSX.Element {
  return (
    <>
      <label for={name}>{isSet ? `${word} (empty: unchanged)` : word}</label>
      <input
        type="password"
        id={name}
        name={name}
        autocomplete="new-password"
        maxlength={HOOK_TEXT_CHARACTERS_MAX}
      />
      {isSet && (
        <label class="choice">
          <input type="checkbox" name={`forget_${name}`} /> {`Remove: ${word}`}
        </label>
      )}
    </>
  )
}

function Events({ chosen }: { readonly chosen: WebhookFields['events'] }): JSX.Element {
  return (
    <fieldset class="columns">
      <legend>Events (none: push)</legend>
      {HOOK_EVENTS.map((event) => (
        <label class="choice">
          <input
            type="checkbox"
            name="event"
            value={wordOf(event)}
            checked={chosen.includes(event)}
          />{' '}
          {event.replaceAll('_', ' ')}
        </label>
      ))}
    </fieldset>
  )
}
