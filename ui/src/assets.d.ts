// SPDX-License-Identifier: Apache-2.0
// Files that the bundler, not the compiler, understands.
declare module '*.css';

/** Whether the page has no server: set by the bundler. */
declare const SITE: boolean;
