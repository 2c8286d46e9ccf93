// Prints the page: without navigation and controls, by the print style of ui/styles.css.
import printer from 'lucide-static/icons/printer.svg?raw'
import { Icon } from './icon.tsx'
import { t } from './words.ts'

export function PrintButton() {
  return (
    <button type="button" onClick={() => print()}>
      <Icon of={printer} /> {t('print')}
    </button>
  )
}
