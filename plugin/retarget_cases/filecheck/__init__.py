"""The kind `filecheck`: FileCheck tests of compiler output."""
