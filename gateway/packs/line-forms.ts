/** Forms in which git sends refs: answers to `ls-refs`, and the refs of older protocols. */

import type { LsRefsRequest } from './normal-request.js'
import { packetLine } from './pkt-line.js'
import { type SpecialLine, UNBORN } from './reference-lines.js'

/** Form of the lines of an answer. */
export interface LineForm {
  /** Returns true for a line that has this form as git listed it. */
  readonly isRaw: (entry: SpecialLine) => boolean
  /** Returns the packets of an existing ref in Latin-1. */
  readonly format: (entry: Omit<SpecialLine, 'line'>) => string
}

/** Returns the form of the answer to an `ls-refs` request. */
export function formOf({
  peel,
  symrefs,
  unborn,
}: Pick<LsRefsRequest, 'peel' | 'symrefs' | 'unborn'>): LineForm {
  return {
    isRaw({ oid, target, peeled }) {
      const isSame = (symrefs || target === undefined) && (peel || peeled === undefined)
      return isSame && (unborn || oid !== UNBORN)
    },
    format({ oid, name, target, peeled }) {
      const attributes = [
        symrefs && target !== undefined ? ` symref-target:${target}` : '',
        peel && peeled !== undefined ? ` peeled:${peeled}` : '',
      ].join('')
      return packetLine(`${oid} ${name}${attributes}\n`)
    },
  }
}

/** Form of the refs of upload-pack in protocol v0 and v1 (gitprotocol-pack(5)). */
export const FORM_V0: LineForm = {
  isRaw: ({ target, peeled }) => target === undefined && peeled === undefined,
  format({ oid, name, peeled }) {
    const target = peeled === undefined ? '' : packetLine(`${peeled} ${name}^{}\n`)
    return packetLine(`${oid} ${name}\n`) + target
  },
}
