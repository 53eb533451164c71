// SPDX-License-Identifier: Apache-2.0
// Files that the bundler, not the compiler, understands.
declare module '*.css';
