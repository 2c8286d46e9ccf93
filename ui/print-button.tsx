// Prints the page: without navigation and controls, by the print style of ui/styles.css.
import printer from './icons/printer.svg?raw'
import { useEffect, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'
import { t } from './words.ts'

interface PrintButtonProps {
  /** shows everything that should be printed, or only the current page again; pages need it */
  showAll?: (all: boolean) => void
  /** whether everything is shown */
  isComplete?: boolean
}

export function PrintButton({ showAll, isComplete = true }: PrintButtonProps) {
  const [printing, setPrinting] = useState(false)
  useEffect(() => {
    if (!printing || !isComplete) return
    setPrinting(false)
    addEventListener('afterprint', () => showAll?.(false), { once: true })
    print()
  }, [printing, isComplete, showAll])
  const press = () => {
    showAll?.(true)
    setPrinting(true)
  }
  return (
    <button type="button" onClick={press}>
      <Icon of={printer} /> {t('print')}
    </button>
  )
}
