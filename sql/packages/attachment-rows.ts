/** Changes of attachments that are the same for releases and for issues, in two tables. */

import { checkText } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'

export interface AttachmentRows {
  /** Renames an attachment. */
  rename(db: Database, attachmentId: number, name: string): Promise<void>
  /**
   * Deletes an attachment; a sweep deletes its bytes later. Returns false if there is no such
   * attachment.
   */
  remove(db: Database, attachmentId: number): Promise<boolean>
  /**
   * Adds to the download counts in one transaction; maps the id of an attachment to the added
   * number.
   */
  addDownloads(db: Database, downloads: ReadonlyMap<number, number>): Promise<void>
}

/** Returns the changes of the attachments in a table. */
export function attachmentRows(table: 'attachments' | 'issue_attachments'): AttachmentRows {
  return {
    async rename(db, attachmentId, name) {
      await db(table)
        .where({ id: attachmentId })
        .update({ name: checkText(name) })
    },
    remove: async (db, attachmentId) => (await db(table).where({ id: attachmentId }).delete()) > 0,
    async addDownloads(db, downloads) {
      if (downloads.size === 0) return
      await transaction(db, async (trx) => {
        for (const [id, count] of downloads) {
          await trx(table).where({ id }).increment('downloads', count)
        }
      })
    },
  }
}
