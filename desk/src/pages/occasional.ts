// Pages that a seller opens now and then, which are loaded together when the first of them is.
export { FilesPage } from './files.tsx'
export { RenewalPage } from './renewal.tsx'
export { NewRulePage, RulePage } from './repricing-rule.tsx'
export { RepricingPage } from './repricing.tsx'
