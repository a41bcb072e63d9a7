package compact

import (
	"errors"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// Metadata is the metadata that an Object stores separately, so that it can be read without decompressing the text.
type Metadata struct {
	Namespace         string
	Name              string
	UID               string
	ResourceVersion   string
	CreationTimestamp string // As in the object's text; empty if it is missing there.
	Labels            []byte // The JSON text of the labels, which is a slice of the object's text.
}

// ReadMetadata reads the metadata in an object's JSON text.
func ReadMetadata(object []byte) (m Metadata, err error) {
	c := jsonscan.NewCursor(object)
	err = c.Object(func(key []byte) error {
		if string(key) != "metadata" {
			return nil
		}
		err := c.Object(func(key []byte) (err error) {
			switch string(key) {
			case "namespace":
				m.Namespace, err = c.Text()
			case "name":
				m.Name, err = c.Text()
			case "uid":
				m.UID, err = c.Text()
			case "resourceVersion":
				m.ResourceVersion, err = c.Text()
			case "creationTimestamp":
				m.CreationTimestamp, err = c.Text()
			case "labels":
				m.Labels, err = c.Value()
			}
			return err
		})
		if err != nil {
			return err
		}
		return jsonscan.ErrStop
	})
	if errors.Is(err, jsonscan.ErrStop) {
		err = nil
	}
	if err == nil && m.Name == "" {
		err = errors.New("the object has no name")
	}
	return m, err
}

// LabelsOf returns the JSON text of an object's labels, which is a slice of the object's text. It is empty if the
// object has no labels.
func LabelsOf(object []byte) []byte {
	m, _ := ReadMetadata(object) // Text that is not a JSON object has no labels.
	return m.Labels
}

// Created returns the creation time, or the zero Time if CreationTimestamp is not a time.
func (m *Metadata) Created() time.Time {
	created, err := time.Parse(time.RFC3339, m.CreationTimestamp)
	if err != nil {
		return time.Time{}
	}
	return created
}
