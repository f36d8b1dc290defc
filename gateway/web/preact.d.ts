/** Types of the part of preact that pages use: no handlers, no styles, only `trusted-html` HTML. */

// The types of preact itself would declare browser globals in server code.

import type { TrustedHtml } from '../rendering/trusted-html.js'

export namespace JSX {
  /** Element as preact represents it; opaque to pages. */
  export interface Element {
    readonly type: unknown
    readonly props: unknown
    readonly key: unknown
  }
  export interface ElementChildrenAttribute {
    readonly children: unknown
  }
  export interface IntrinsicAttributes {
    readonly key?: string | number
  }
  export interface IntrinsicElements
    extends Record<Plain, Attributes>,
      Record<`h${1 | 2 | 3 | 4}`, Attributes> {
    readonly html: Attributes & { readonly lang: string }
    readonly meta: { readonly name?: string; readonly content?: string; readonly charset?: string }
    readonly link: { readonly rel: string; readonly href: string; readonly type?: string }
    readonly a: Attributes & {
      readonly href: string
      readonly rel?: string
      readonly download?: boolean
    }
    readonly form: Attributes & {
      readonly method: 'get' | 'post'
      readonly action: string
      readonly hidden?: boolean
      readonly 'data-ceremony'?: string
      readonly 'data-options'?: string
    }
    readonly script: { readonly type: 'module'; readonly src: string }
    readonly label: Attributes & { readonly for?: string }
    readonly input: Attributes & InputAttributes
    readonly button: Attributes & {
      readonly type: 'submit'
      readonly name?: string
      value?: string
      readonly formnovalidate?: boolean
    }
    readonly svg: Attributes & { readonly viewBox: string }
    readonly circle: Attributes & Record<'cx' | 'cy' | 'r' | 'fill', string>
    readonly rect: Attributes & Record<'x' | 'y' | 'width' | 'height', string>
    readonly textarea: Attributes & TextAttributes & { readonly rows?: number }
    readonly select: Attributes & { readonly name: string; readonly required?: boolean }
    readonly option: Attributes & { readonly value: string; readonly selected?: boolean }
    readonly details: Attributes & { readonly open?: boolean }
    readonly time: Attributes & { readonly datetime: string }
    readonly th: Attributes & CellAttributes & { readonly scope?: 'col' | 'row' }
    readonly td: Attributes & CellAttributes
  }
}

export type Child = JSX.Element | string | number | boolean | null | undefined | readonly Child[]

type Plain =
  | ('body' | 'head' | 'title' | 'header' | 'nav' | 'main' | 'footer' | 'section' | 'article')
  | ('div' | 'span' | 'p' | 'ul' | 'ol' | 'li' | 'dl' | 'dt' | 'dd' | 'pre' | 'code' | 'strong')
  | ('em' | 'small' | 'br' | 'hr' | 'table' | 'thead' | 'tbody' | 'tr' | 'caption' | 'summary')
  | ('fieldset' | 'legend' | 'mark' | 'del' | 'ins' | 'noscript')

interface Attributes {
  readonly children?: Child
  readonly class?: string
  readonly id?: string
  readonly title?: string
  readonly role?: string
  readonly tabindex?: number
  readonly dir?: 'auto' | 'ltr'
  readonly dangerouslySetInnerHTML?: { readonly __html: TrustedHtml }
  readonly [name: `aria-${string}`]: string | boolean | undefined
}

interface TextAttributes {
  readonly name: string
  readonly required?: boolean
  readonly readonly?: boolean
  readonly maxlength?: number
  readonly minlength?: number
  readonly placeholder?: string
  readonly autocomplete?: string
  readonly autofocus?: boolean
}

interface InputAttributes extends Omit<TextAttributes, 'name'> {
  readonly name?: string
  readonly type: 'text' | 'password' | 'email' | 'hidden' | 'checkbox' | 'radio' | 'search' | 'date'
  readonly value?: string
  readonly checked?: boolean
  readonly inputmode?: 'numeric'
  readonly pattern?: string
}

interface CellAttributes {
  readonly colspan?: number
}

type Component<P> = (props: P) => JSX.Element | null

export function jsx<P>(type: string | Component<P>, props: P, key?: string): JSX.Element
export const jsxs: typeof jsx
export const Fragment: Component<{ readonly children?: Child }>
