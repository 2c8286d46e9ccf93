// Rarely used pages, loaded together when the first of them is opened.
export { FilesPage } from './files.tsx'
export { OffersPage } from './offers.tsx'
export { RenewalPage } from './renewal.tsx'
export { NewRulePage, RulePage } from './repricing-rule.tsx'
export { RepricingPage } from './repricing.tsx'
export { TodayPage } from './today.tsx'
