/** Sets of labels for new repositories. */

import type { NewLabel } from '../../../sql/issues/labels.js'

type TemplateLabel = Omit<NewLabel, 'isArchived'>

/** Sets by name. In `Advanced`, an issue has at most one label of each scope. */
const SETS: Readonly<Record<string, readonly TemplateLabel[]>> = {
  Advanced: [
    scoped('Kind/Bug', 'd73a4a', 'Something does not work'),
    scoped('Kind/Feature', '0e8a16', 'A new ability'),
    scoped('Kind/Enhancement', '84b6eb', 'An improvement of an existing ability'),
    scoped('Kind/Documentation', '37474f', 'Changes of documents only'),
    scoped('Kind/Security', '9c27b0', 'Concerns security'),
    scoped('Kind/Testing', '795548', 'Concerns tests'),
    plain('Kind/Breaking', 'c62828', 'Users must change something'),
    scoped('Priority/Critical', 'b71c1c', 'Before everything else'),
    scoped('Priority/High', 'd32f2f', 'Soon'),
    scoped('Priority/Medium', 'e64a19', 'In its turn'),
    scoped('Priority/Low', '4caf50', 'When there is time'),
    scoped('Reviewed/Confirmed', '795548', 'The problem was reproduced'),
    scoped('Reviewed/Duplicate', '616161', 'Another issue is about the same'),
    scoped('Reviewed/Invalid', '546e7a', 'Not a fault of this project'),
    scoped("Reviewed/Won't Fix", 'eeeeee', 'It stays as it is'),
    scoped('Status/Abandoned', '222222', 'No one works on it any more'),
    scoped('Status/Blocked', '880e4f', 'Something else must be done first'),
    scoped('Status/Need More Info', '424242', 'Its author is asked for details'),
  ],
  Default: [
    plain('bug', 'ee0701', 'Something is not working'),
    plain('duplicate', 'cccccc', 'This issue or pull request already exists'),
    plain('enhancement', '84b6eb', 'New feature'),
    plain('help wanted', '128a0c', 'Need some help'),
    plain('invalid', 'e6e6e6', 'Something is wrong'),
    plain('question', 'cc317c', 'More information is needed'),
    plain('wontfix', 'ffffff', 'This will not be fixed'),
  ],
}

/** Returns the names of the sets, sorted. */
export function listLabelSets(): readonly string[] {
  return Object.keys(SETS)
}

/** Returns the labels of a set; undefined if there is none of that name. */
export function findLabelSet(name: string): readonly TemplateLabel[] | undefined {
  return Object.hasOwn(SETS, name) ? SETS[name] : undefined
}

function plain(name: string, color: string, description: string): TemplateLabel {
  return { name, color, description, isExclusive: false }
}

function scoped(name: string, color: string, description: string): TemplateLabel {
  return { ...plain(name, color, description), isExclusive: true }
}
